import { Annotations, CfnOutput, RemovalPolicy, Stack, type StackProps } from 'aws-cdk-lib'
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions'
import type { Construct } from 'constructs'
import { kubectlSetup } from './constructs/kubectl-setup.ts'
import { ControlPlane } from './constructs/control-plane.ts'
import { Controller } from './constructs/controller.ts'
import { DumpArchive } from './constructs/dump-archive.ts'
import type { TokenIssuer } from './constructs/principals.ts'
import { allowRds } from './constructs/rds-access.ts'
import { dashboardUrl } from './dashboards/dashboard.ts'
import { findShippedEntry, shippedReconcilers } from './shipped-reconcilers.ts'

export interface SetpointStackProps extends StackProps {
  readonly adminPrincipals: readonly string[]
  readonly issuers: readonly TokenIssuer[]
  /** Who gets the alarms by mail. */
  readonly alarmEmail?: string
  /** Where the servers of PostgresClusters are. Default: the account's default VPC. */
  readonly databases?: DatabasePlace
  /** Whether the objects go with the stack: for trying out. */
  readonly disposable: boolean
  /** Without pages and alarms for each controller, which cost more at rest than all the rest. */
  readonly frugal?: boolean
}

export interface DatabasePlace {
  /** The name of a DB subnet group. */
  readonly subnetGroup?: string
  /** Ids of VPC security groups. */
  readonly securityGroups?: readonly string[]
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
      removalPolicy: props.disposable ? RemovalPolicy.DESTROY : RemovalPolicy.RETAIN,
    })
    const dumps = new DumpArchive(this, 'Dumps')
    const environments: Readonly<Record<string, Readonly<Record<string, string>>>> = {
      PostgresCluster: placeOf(props.databases),
      PostgresDatabase: knowsRds,
      BackupPolicy: dumps.environment,
      Job: { ...dumps.environment, ...knowsRds },
    }
    for (const { name, kind } of this.controlPlane.reconcilers) {
      const { function: worker } = new Controller(this, pascalCase(name), {
        controlPlane: this.controlPlane,
        reconciler: name,
        entry: findShippedEntry(name),
        environment: environments[kind] ?? {},
        alarms: props.frugal !== true,
        dashboard: props.frugal !== true,
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
