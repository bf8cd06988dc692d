import { Stack } from 'aws-cdk-lib'
import * as iam from 'aws-cdk-lib/aws-iam'
import type { ControlFunction } from './control-function.ts'

/**
 * Lets a function keep PostgresClusters on RDS: requests of the Cloud Control API, and what that does in the function's
 * name. Only instances and groups named as ours are made, changed and deleted. Source: the handlers of
 * AWS::RDS::DBInstance and AWS::RDS::DBParameterGroup in their resource schemas.
 */
export function allowRds(worker: ControlFunction): void {
  const { partition, region, account } = Stack.of(worker)
  const rds = (resource: string): string => `arn:${partition}:rds:${region}:${account}:${resource}`
  worker.allow(nameActions('cloudformation', requests), ['*'])
  worker.allow(['rds:DescribeDBInstances', ...nameActions('rds', looks), ...nameActions('ec2', networkLooks)], ['*'])
  // A new instance is also of its groups, and a deleted one leaves a snapshot.
  const resources = ['db:sp-*', 'og:*', 'pg:*', 'snapshot:*', 'subgrp:*'].map(rds)
  worker.allow(nameActions('rds', changes), resources)
  worker.allow(nameActions('rds', groupChanges), [rds('pg:sp-*')])
  worker.allow(['rds:RemoveTagsFromResource'], ['db:sp-*', 'pg:sp-*'].map(rds))
  worker.addToRolePolicy(
    new iam.PolicyStatement({
      actions: ['iam:CreateServiceLinkedRole'],
      resources: [`arn:${partition}:iam::${account}:role/aws-service-role/rds.amazonaws.com/*`],
      conditions: { StringEquals: { 'iam:AWSServiceName': 'rds.amazonaws.com' } },
    }),
  )
}

const requests = [
  'CreateResource',
  'DeleteResource',
  'GetResource',
  'GetResourceRequestStatus',
  'ListResourceRequests',
  'UpdateResource',
]
const looks = [
  'DescribeDBClusters',
  'DescribeDBEngineVersions',
  'DescribeDBInstanceAutomatedBackups',
  'DescribeDBParameterGroups',
  'DescribeDBParameters',
  'DescribeDBSnapshots',
  'DescribeEngineDefaultParameters',
  'DescribeEvents',
  'ListTagsForResource',
]
const networkLooks = [
  'DescribeAccountAttributes',
  'DescribeAvailabilityZones',
  'DescribeInternetGateways',
  'DescribeSecurityGroups',
  'DescribeSubnets',
  'DescribeVpcAttribute',
  'DescribeVpcs',
]
const changes = [
  'AddTagsToResource',
  'CreateDBInstance',
  'CreateDBSnapshot',
  'DeleteDBInstance',
  'ModifyDBInstance',
  'RebootDBInstance',
]

const groupChanges = [
  'CreateDBParameterGroup',
  'DeleteDBParameterGroup',
  'ModifyDBParameterGroup',
  'ResetDBParameterGroup',
]

function nameActions(service: string, actions: readonly string[]): readonly string[] {
  return actions.map((action) => `${service}:${action}`)
}
