import { Annotations, CfnOutput, RemovalPolicy, Stack, type StackProps } from 'aws-cdk-lib'
import * as ec2 from 'aws-cdk-lib/aws-ec2'
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions'
import type { Construct } from 'constructs'
import { kubectlSetup } from './constructs/kubectl-setup.ts'
import { ControlPlane } from './constructs/control-plane.ts'
import { Controller, type ControllerProps } from './constructs/controller.ts'
import { DumpArchive } from './constructs/dump-archive.ts'
import type { ReleasePace } from './constructs/gradual-releases.ts'
import type { TokenIssuer } from './constructs/principals.ts'
import { allowRds } from './constructs/rds-access.ts'
import { dashboardUrl } from './dashboards/dashboard.ts'
import { findShippedEntry, shippedReconcilers } from './shipped-reconcilers.ts'

export interface SetpointStackProps extends StackProps {
  readonly adminPrincipals: readonly string[]
  readonly issuers: readonly TokenIssuer[]
  /** Who gets the alarms by mail. */
  readonly alarmEmail?: string
  /**
   * Where the servers of PostgresClusters are, and what reaches them. Default: the account's default VPC, and nothing.
   */
  readonly databases?: DatabasePlace
  /** Whether the objects go with the stack: for trying out. */
  readonly disposable: boolean
  /** How many objects of the reconcilers that share a function run at once. Default: 10. */
  readonly sharedConcurrency?: number
  /** Whether the functions of queues keep their executions from others. Default: false. */
  readonly reserveConcurrency?: boolean
  /** How many batches of each shard of the stream are relayed at once. Default: 1. */
  readonly relaysPerShard?: number
  /** How new code of reconcilers takes over. Default: at once. */
  readonly releases?: ReleasePace
  /** An index of an earlier version that the table keeps for this deployment. */
  readonly keepIndex?: 'changes'
}

export interface DatabasePlace {
  /** The name of a DB subnet group. */
  readonly subnetGroup?: string
  /** Ids of VPC security groups: of the servers, and of the functions that reach them. */
  readonly securityGroups?: readonly string[]
  /** The VPC of the servers. Functions that open connections to databases run in it. */
  readonly vpcId?: string
  /** Ids of private subnets of it, for these functions. */
  readonly subnetIds?: readonly string[]
}

/** A control plane with the reconcilers that come with the project. */
export class SetpointStack extends Stack {
  readonly controlPlane: ControlPlane

  constructor(scope: Construct, id: string, props: SetpointStackProps) {
    super(scope, id, props)
    this.controlPlane = new ControlPlane(this, 'ControlPlane', {
      reconcilers: shippedReconcilers,
      adminPrincipals: props.adminPrincipals,
      issuers: props.issuers,
      ...(props.sharedConcurrency !== undefined && { sharedConcurrency: props.sharedConcurrency }),
      ...(props.reserveConcurrency === true && { reserveConcurrency: true }),
      ...(props.relaysPerShard !== undefined && { relaysPerShard: props.relaysPerShard }),
      ...(props.releases !== undefined && { releases: props.releases }),
      ...(props.keepIndex !== undefined && { keepIndex: props.keepIndex }),
      removalPolicy: props.disposable ? RemovalPolicy.DESTROY : RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
    })
    const dumps = new DumpArchive(this, 'Dumps')
    const environments: Readonly<Record<string, Readonly<Record<string, string>>>> = {
      PostgresCluster: placeOf(props.databases),
      PostgresDatabase: knowsRds,
      BackupPolicy: dumps.environment,
      Job: { ...dumps.environment, ...knowsRds },
    }
    const network = networkOf(this, props.databases)
    if (network === undefined) Annotations.of(this).addWarningV2('setpoint:no-network', unreachable)
    for (const { name, kind } of this.controlPlane.reconcilers) {
      // A dump takes minutes; what connects to databases runs where they are, if that is said.
      const isolated = kind === 'Job' || (connecting.includes(kind) && network !== undefined)
      const { function: worker } = new Controller(this, pascalCase(name), {
        controlPlane: this.controlPlane,
        reconciler: name,
        environment: environments[kind] ?? {},
        ...(isolated && { isolated, entry: findShippedEntry(name) }),
        ...(isolated && network),
      })
      if (kind === 'PostgresCluster') allowRds(worker)
      if (kind === 'BackupPolicy') dumps.allowRemoving(worker)
      if (kind === 'Job') dumps.allowStoring(worker)
    }
    if (props.alarmEmail !== undefined)
      this.controlPlane.alarmTopic.addSubscription(new EmailSubscription(props.alarmEmail))
    if (props.adminPrincipals.length === 0) Annotations.of(this).addWarningV2('setpoint:no-admins', nobody)
    this.addOutputs()
  }

  private addOutputs(): void {
    const { api, dashboard, table, alarmTopic } = this.controlPlane
    const outputs = {
      Endpoint: api.url,
      KubectlSetup: kubectlSetup(this.controlPlane),
      Dashboard: dashboardUrl(this, dashboard.ref),
      AlarmTopic: alarmTopic.topicArn,
      Table: table.tableName,
    }
    for (const [name, value] of Object.entries(outputs)) new CfnOutput(this, name, { value })
  }
}

const nobody =
  'nobody may call the API: say who, as in -c admins=arn:aws:iam::123456789012:role/Admin (several with commas between)'

const unreachable =
  'databases cannot be reached: RDS servers are private. Say where they are, as in -c vpc=vpc-1 -c subnets=subnet-1,subnet-2 -c rdsSecurityGroups=sg-1. Until then PostgresDatabases and Jobs fail to connect'

/** The kinds whose functions open connections to databases. */
const connecting: readonly string[] = ['PostgresDatabase', 'Job']

type Network = Required<Pick<ControllerProps, 'vpc' | 'vpcSubnets' | 'securityGroups'>>

/** Nothing is looked up: a synthesis needs no account. */
function networkOf(scope: Construct, place: DatabasePlace = {}): Network | undefined {
  const { vpcId, subnetIds = [], securityGroups = [], subnetGroup } = place
  if (vpcId === undefined && subnetIds.length === 0 && subnetGroup === undefined) return undefined
  if (vpcId === undefined || subnetIds.length === 0 || securityGroups.length === 0)
    throw new Error('databases in a VPC need all of -c vpc=…, -c subnets=… and -c rdsSecurityGroups=…')
  // Zones are asked for and used by nothing here.
  const availabilityZones = subnetIds.map((_, i) => `zone-${i}`)
  const vpc = ec2.Vpc.fromVpcAttributes(scope, 'Vpc', { vpcId, availabilityZones, privateSubnetIds: [...subnetIds] })
  return {
    vpc,
    vpcSubnets: { subnets: vpc.privateSubnets },
    // Whoever set the groups up says what they may reach.
    securityGroups: securityGroups.map((id, i) =>
      ec2.SecurityGroup.fromSecurityGroupId(scope, `Group${i}`, id, { mutable: false }),
    ),
  }
}

/** Without it Node knows no authority of RDS (functions/reconcilers/postgres/sql/transport.ts). */
const knowsRds = { NODE_EXTRA_CA_CERTS: '/var/runtime/ca-cert.pem' } as const

/** For the reconciler, which reads it in functions/reconcilers/postgres/rds/settings.ts. */
function placeOf({ subnetGroup, securityGroups }: DatabasePlace = {}): Readonly<Record<string, string>> {
  return {
    ...(subnetGroup !== undefined && { RDS_SUBNET_GROUP: subnetGroup }),
    ...(securityGroups !== undefined && { RDS_SECURITY_GROUPS: securityGroups.join(',') }),
  }
}

function pascalCase(name: string): string {
  return name.replaceAll(/(?:^|-)(\w)/g, (_, letter: string) => letter.toUpperCase())
}
