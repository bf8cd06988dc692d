import type * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch'
import * as codedeploy from 'aws-cdk-lib/aws-codedeploy'
import * as iam from 'aws-cdk-lib/aws-iam'
import * as lambda from 'aws-cdk-lib/aws-lambda'
import { Lazy } from 'aws-cdk-lib'
import type { ITopic } from 'aws-cdk-lib/aws-sns'
import { Construct } from 'constructs'
import { createAlarms } from '../dashboards/alarms.ts'
import { oneMinute } from '../dashboards/metrics.ts'
import { acknowledge } from './acknowledge.ts'
import type { ControlFunction } from './control-function.ts'
import type { ObjectTable } from './object-table.ts'

/** How new code takes over, by the names that CodeDeploy has for it: a first part of the batches, or part by part. */
export const releasePaces = [
  'Canary10Percent5Minutes',
  'Canary10Percent10Minutes',
  'Canary10Percent15Minutes',
  'Canary10Percent30Minutes',
  'Linear10PercentEvery1Minute',
  'Linear10PercentEvery2Minutes',
  'Linear10PercentEvery3Minutes',
  'Linear10PercentEvery10Minutes',
] as const
export type ReleasePace = (typeof releasePaces)[number]

export interface GradualReleasesProps {
  readonly pace: ReleasePace
  readonly alarmTopic: ITopic
  /** Of the control plane. Each of them ends a release, if it is one that new code may be to blame for. */
  readonly alarms: () => readonly cloudwatch.Alarm[]
  /** What the functions have their objects in. */
  readonly table: Pick<ObjectTable, 'tableName'>
  /** A name of that table that an alias may have in its own: another one where a restored table takes its place. */
  readonly tableSwitch: () => string
}

/**
 * The alarms that a release looks at, by their ids. CodeDeploy takes ten, and begins no release while one of them is
 * on: so not the one on objects that have long been wrong.
 */
const telling = ['Stopped', 'Repairs', 'GivenUp', 'ApiFails', 'RelayLate', 'FunctionsThrottled', 'TableThrottled']

/**
 * CodeDeploy moves the queues of reconcilers from one version of their function to the next. If an alarm is raised in
 * that time, CodeDeploy moves them back, and CloudFormation rolls the whole update back. A switch to a restored table
 * is no release: all go to it at once.
 */
export class GradualReleases extends Construct {
  private readonly props: GradualReleasesProps
  private readonly application: codedeploy.CfnApplication
  private readonly role: iam.Role

  constructor(scope: Construct, id: string, props: GradualReleasesProps) {
    super(scope, id)
    if (!releasePaces.includes(props.pace))
      throw new Error(`releases are one of ${releasePaces.join(', ')}, not ${props.pace}`)
    this.props = props
    this.application = new codedeploy.CfnApplication(this, 'Application', { computePlatform: 'Lambda' })
    this.role = new iam.Role(this, 'Role', { assumedBy: new iam.ServicePrincipal('codedeploy.amazonaws.com') })
    this.allow(['cloudwatch:DescribeAlarms'], ['*'])
    acknowledge(this.role, 'IAM5[Resource::*]', 'CodeDeploy asks for the states of alarms by their names, in one list.')
  }

  /** What the queues of this function are to feed in its stead. */
  release(worker: ControlFunction): lambda.IFunction {
    const version = worker.currentVersion as lambda.IVersion
    // A version keeps the variables of its time. By another description it is another one, with those of now.
    ;(version.node.defaultChild as lambda.CfnVersion).description = this.props.table.tableName
    // A new table has a new alias, which no release leads to: part of the batches would still be run with the table
    // before.
    const aliasName = Lazy.string({ produce: () => `live-${this.props.tableSwitch()}` })
    const alias = new lambda.Alias(worker, 'Live', { aliasName, version })
    // By its name: the alias waits for its group, which waits for the role.
    this.allow(['lambda:GetAlias', 'lambda:UpdateAlias'], [worker.functionArn, `${worker.functionArn}:${aliasName}`])
    this.allowAsking(worker)
    const own = createAlarms(worker, this.props.alarmTopic, [
      {
        id: 'Fails',
        description:
          'A function that runs reconcilers failed as a whole: its code does not start, or ran out of time or memory. See its log. A release that is under way goes back to the version before.',
        metric: alias.metricErrors({ period: oneMinute, statistic: 'Sum' }),
        threshold: 1,
        periods: 1,
      },
    ])
    const alarmsOf = () => [...own, ...this.props.alarms().filter(({ node }) => telling.includes(node.id))]
    const group = new codedeploy.CfnDeploymentGroup(worker, 'Releases', {
      applicationName: this.application.ref,
      serviceRoleArn: this.role.roleArn,
      deploymentConfigName: `CodeDeployDefault.Lambda${this.props.pace}`,
      deploymentStyle: { deploymentType: 'BLUE_GREEN', deploymentOption: 'WITH_TRAFFIC_CONTROL' },
      alarmConfiguration: {
        enabled: true,
        alarms: Lazy.any({ produce: () => alarmsOf().map(({ alarmName }) => ({ name: alarmName })) }) as never,
      },
      autoRollbackConfiguration: {
        enabled: true,
        events: ['DEPLOYMENT_FAILURE', 'DEPLOYMENT_STOP_ON_ALARM', 'DEPLOYMENT_STOP_ON_REQUEST'],
      },
    })
    // What the role may do must be there before the first release.
    group.node.addDependency(this.role)
    const resource = alias.node.defaultChild as lambda.CfnAlias
    resource.cfnOptions.updatePolicy = {
      codeDeployLambdaAliasUpdate: { applicationName: this.application.ref, deploymentGroupName: group.ref },
    }
    return alias as lambda.IFunction
  }

  /**
   * IAM knows this action of aliases and of versions, and AWS allows CodeDeploy to ask it of all. Source: Service
   * Authorization Reference, "AWS Lambda"; AWS managed policy AWSCodeDeployRoleForLambdaLimited.
   */
  private allowAsking(worker: ControlFunction): void {
    this.allow(['lambda:GetProvisionedConcurrencyConfig'], [`${worker.functionArn}:*`])
    const id = worker.stack.getLogicalId(worker.node.defaultChild as lambda.CfnFunction)
    acknowledge(this.role, `IAM5[Resource::<${id}.Arn>:*]`, 'The numbers of later versions are not known yet.')
  }

  private allow(actions: readonly string[], resources: readonly string[]): void {
    this.role.addToPolicy(new iam.PolicyStatement({ actions: [...actions], resources: [...resources] }))
  }
}
