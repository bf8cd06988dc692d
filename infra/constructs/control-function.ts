import { dirname, extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { AssetHashType, DockerImage, type Duration, RemovalPolicy, Stack } from 'aws-cdk-lib'
import * as iam from 'aws-cdk-lib/aws-iam'
import * as lambda from 'aws-cdk-lib/aws-lambda'
import * as logs from 'aws-cdk-lib/aws-logs'
import type { Construct } from 'constructs'
import { writeBundle, type BundleParts } from '../bundling/bundle.ts'
import { acknowledge } from './acknowledge.ts'
import { allowAdot, traceProps, type SentTraces } from './sent-traces.ts'

/** What all functions of a control plane have in common. */
export interface FunctionDefaults {
  readonly logRetention: logs.RetentionDays
  readonly tracing: boolean
}

export interface ControlFunctionProps
  extends FunctionDefaults, Pick<lambda.FunctionOptions, 'vpc' | 'vpcSubnets' | 'securityGroups'> {
  /** Names the file in `functions/`. */
  readonly handler: string
  /** The text of the module `#reconcilers` in its bundle. */
  readonly reconcilers: string
  readonly description: string
  readonly timeout: Duration
  readonly memorySize: number
  readonly environment: Readonly<Record<string, string>>
  readonly traces?: SentTraces | undefined
  /** Whether it runs reconcilers that read or write secrets of AWS. */
  readonly vault?: boolean
}

/**
 * One of the entry points in `functions/`, bundled. It has a role and a log group of its own; the role may write that
 * log and nothing else, until `allow` says so.
 */
export class ControlFunction extends lambda.Function {
  /** What queues feed: the function as it is, unless its releases are gradual. */
  live: lambda.IFunction = this

  constructor(scope: Construct, id: string, props: ControlFunctionProps) {
    const { handler, reconcilers, logRetention, tracing, environment, traces, vault, ...options } = props
    const logGroup = new logs.LogGroup(scope, `${id}Logs`, {
      retention: logRetention,
      removalPolicy: RemovalPolicy.DESTROY,
    })
    const sending = traces ? traceProps(scope, id, { traces, service: Stack.of(scope).stackName }) : { environment: {} }
    super(scope, id, {
      ...options,
      ...sending,
      environment: { ...environment, ...sending.environment },
      code: bundleCode(handler, reconcilers, {
        ...(traces && { tracing: sharedFile('tracing') }),
        ...(vault === true && { vault: sharedFile('vault') }),
      }),
      handler: 'index.handler',
      runtime: lambda.Runtime.NODEJS_24_X,
      architecture: lambda.Architecture.ARM_64,
      role: roleOf(scope, `${id}Role`, logGroup),
      logGroup,
      // What the gateway has chosen to trace. By itself Lambda would trace an invocation each second and a twentieth of
      // the others, whatever the rules of X-Ray say.
      tracing: tracing ? lambda.Tracing.PASS_THROUGH : lambda.Tracing.DISABLED,
      // A wake-up that goes round through queues is cut off after 16 turns, whatever the engine has overlooked.
      recursiveLoop: lambda.RecursiveLoop.TERMINATE,
    })
    if (options.vpc !== undefined) this.allow(networkActions, ['*'])
    if (traces?.adot !== undefined && !tracing) allowAdot(this)
    if (this.role !== undefined) acknowledge(this.role, 'IAM5[Resource::*]', withoutResource)
  }

  /** Keeps so many executions at once for it, and lets it have no more. */
  reserve(count: number): void {
    const { defaultChild } = this.node
    ;(defaultChild as lambda.CfnFunction).reservedConcurrentExecutions = count
  }

  allow(actions: readonly string[], resources: readonly string[]): void {
    this.addToRolePolicy(new iam.PolicyStatement({ actions: [...actions], resources: [...resources] }))
  }
}

/** A bundle that CDK makes when it needs it: not for stacks it leaves out, and once for all that are equal. */
function bundleCode(handler: string, reconcilers: string, parts: BundleParts): lambda.Code {
  const entry = functionFile(handler)
  const bundle = (directory: string): true => {
    writeBundle(entry, reconcilers, directory, parts)
    return true
  }
  return lambda.Code.fromAsset(dirname(entry), {
    assetHashType: AssetHashType.OUTPUT,
    bundling: {
      image: DockerImage.fromRegistry('unused'),
      local: { tryBundle: bundle },
      // Never run: by it CDK tells bundles apart.
      command: [entry, reconcilers, ...Object.values(parts)],
    },
  })
}

/** In the repository they are TypeScript; in the package, where we stand in `dist/`, they have been compiled. */
function functionFile(name: string): string {
  return fileURLToPath(new URL(`../../functions/${name}${extname(import.meta.url)}`, import.meta.url))
}

function sharedFile(name: string): string {
  return fileURLToPath(new URL(`../../shared/runtime/aws/${name}${extname(import.meta.url)}`, import.meta.url))
}

function roleOf(scope: Construct, id: string, logGroup: logs.LogGroup): iam.Role {
  const role = new iam.Role(scope, id, { assumedBy: new iam.ServicePrincipal('lambda.amazonaws.com') })
  role.addToPolicy(
    new iam.PolicyStatement({
      actions: ['logs:CreateLogStream', 'logs:PutLogEvents'],
      resources: [logGroup.logGroupArn],
    }),
  )
  return role
}

const withoutResource =
  'Traces, network interfaces and the list of streams are written and read by Lambda in the name of the function, and IAM knows no resource for them.'

/** What Lambda itself does in a VPC in the function's name. None of it can be narrowed to a resource beforehand. */
const networkActions = [
  'ec2:AssignPrivateIpAddresses',
  'ec2:CreateNetworkInterface',
  'ec2:DeleteNetworkInterface',
  'ec2:DescribeNetworkInterfaces',
  'ec2:DescribeSubnets',
  'ec2:UnassignPrivateIpAddresses',
]
