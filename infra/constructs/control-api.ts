import { Duration, Names, RemovalPolicy } from 'aws-cdk-lib'
import * as apigateway from 'aws-cdk-lib/aws-apigateway'
import type { ICertificate } from 'aws-cdk-lib/aws-certificatemanager'
import type { IInterfaceVpcEndpoint } from 'aws-cdk-lib/aws-ec2'
import * as iam from 'aws-cdk-lib/aws-iam'
import * as logs from 'aws-cdk-lib/aws-logs'
import * as wafv2 from 'aws-cdk-lib/aws-wafv2'
import * as xray from 'aws-cdk-lib/aws-xray'
import { Construct } from 'constructs'
import { acknowledge } from './acknowledge.ts'
import type { ControlFunction } from './control-function.ts'

export interface ControlApiOptions {
  /**
   * Requests a second, all callers together; more are answered 429, which kubectl waits out.
   * @default 200
   */
  readonly throttlingRateLimit?: number
  /**
   * Requests at once above that rate.
   * @default 400
   */
  readonly throttlingBurstLimit?: number
  /**
   * A name of your own for the endpoint, with its `certificate`; the name in DNS, to `api.restApi.domainName`, is yours
   * to set. The endpoint without a name is closed then. Not for a private endpoint (`vpcEndpoints`).
   * @default - the name that API Gateway gives
   */
  readonly domainName?: string
  readonly certificate?: ICertificate
  /**
   * An AWS WAF web ACL to put in front, regional.
   * @default - none: who has no token gets no further than the authorizer
   */
  readonly webAclArn?: string
  /**
   * Makes the endpoint private: it is reached through these endpoints (`execute-api`) of your VPCs, and from nowhere
   * else.
   * @default - public, for those with a token
   */
  readonly vpcEndpoints?: readonly IInterfaceVpcEndpoint[]
  /**
   * The role by which API Gateway writes logs, one for an account and Region. Switch it off where there is one.
   * @default true
   */
  readonly cloudWatchRole?: boolean
}

export interface ControlApiProps extends ControlApiOptions {
  readonly handler: ControlFunction
  readonly authorizer: ControlFunction
  readonly logRetention: logs.RetentionDays
  readonly tracing: boolean
}

/**
 * The endpoint: a REST API that streams, because `kubectl get -w` wants its first byte at once and an HTTP API cannot.
 * Every path and verb goes to one function, and none of them without a token.
 */
export class ControlApi extends Construct {
  readonly restApi: apigateway.RestApi
  readonly accessLogs: logs.LogGroup
  /** Where kubectl connects to. */
  readonly url: string

  constructor(scope: Construct, id: string, props: ControlApiProps) {
    super(scope, id)
    // By itself a stage goes on with the authorizer that it was deployed with.
    this.node.setContext('@aws-cdk/aws-apigateway:authorizerChangeDeploymentLogicalId', true)
    this.accessLogs = new logs.LogGroup(this, 'AccessLogs', {
      retention: props.logRetention,
      removalPolicy: RemovalPolicy.DESTROY,
    })
    // CloudWatch knows an API by its name only: two of one name would raise each other's alarms.
    const maxLength = tracedNameMax - `/${stageName}`.length
    const name = Names.uniqueResourceName(this, { separator: '-', maxLength })
    if (props.tracing) this.sample(name)
    this.restApi = new apigateway.RestApi(this, 'RestApi', {
      restApiName: name,
      description: 'The API of a Setpoint control plane, for kubectl',
      ...placeOf(props),
      ...nameOf(props),
      // Text, protobuf and gzip alike: the function gets what was sent, and is told whether that is base64.
      binaryMediaTypes: ['*/*'],
      ...logRoleOf(props),
      deployOptions: stageOf(props, this.accessLogs),
    })
    // Said once, by the stack, as what kubectl needs.
    this.restApi.node.tryRemoveChild('Endpoint')
    this.addRoutes(props)
    for (const [type, refusal] of refusals)
      this.restApi.addGatewayResponse(type.responseType, gatewayResponse(type, refusal))
    if (props.webAclArn !== undefined) this.addFirewall(props.webAclArn)
    for (const [rule, reason] of Object.entries(argued)) acknowledge(this, rule, reason)
    this.url = props.domainName === undefined ? this.restApi.url : `https://${props.domainName}`
  }

  private addRoutes({ handler, authorizer }: ControlApiProps): void {
    const integration = new apigateway.LambdaIntegration(handler, {
      responseTransferMode: apigateway.ResponseTransferMode.STREAM,
      timeout: apiTimeout,
      // One permission for all paths: those of each would outgrow the policy of the function.
      scopePermissionToMethod: false,
    })
    const options = {
      authorizationType: apigateway.AuthorizationType.CUSTOM,
      authorizer: new apigateway.TokenAuthorizer(this, 'TokenAuthorizer', {
        handler: authorizer,
        // So long a token that has expired may still be let in.
        resultsCacheTtl: Duration.minutes(1),
        // In whatever letters, as HTTP has it.
        validationRegex: '^[Bb][Ee][Aa][Rr][Ee][Rr] .+$',
      }),
    }
    this.restApi.root.addMethod('ANY', integration, options)
    this.restApi.root.addResource('{proxy+}').addMethod('ANY', integration, options)
  }

  /** By its own rule X-Ray would trace a request each second: all, of a control plane that is not busy. */
  private sample(name: string): void {
    const everything = { host: '*', httpMethod: '*', urlPath: '*', resourceArn: '*' }
    const rate = { fixedRate: tracedShare, reservoirSize: 0, priority: 1_000 }
    const ruleName = Names.uniqueResourceName(this, { separator: '-', maxLength: 32 })
    const of = { serviceName: `${name}/${stageName}`, serviceType: 'AWS::ApiGateway::Stage' }
    new xray.CfnSamplingRule(this, 'Sampling', {
      samplingRule: { ...everything, ...rate, ...of, ruleName, version: 1 },
    })
  }

  private addFirewall(webAclArn: string): void {
    new wafv2.CfnWebACLAssociation(this, 'Firewall', {
      resourceArn: this.restApi.deploymentStage.stageArn,
      webAclArn,
    })
  }
}

const stageName = 'v1'

/** X-Ray takes no longer name of a service in a rule, and knows an API by its name and its stage. */
const tracedNameMax = 64

/** Of the requests. */
const tracedShare = 0.05

/** By rule of cdk-nag. */
const argued = {
  APIG2:
    'Objects are checked by the schema of their kind, which is not known to the gateway; the API answers 422 with the path of each error.',
  APIG3:
    'A firewall costs several times as much as all the rest at rest. Who has no token gets no further than the authorizer; webAclArn puts one in front.',
  APIG6:
    'Every request is in the access log, and the function logs its errors. Logs of executions would hold bodies, Secrets among them, in a log group that nobody can keep short.',
  COG4: 'A Lambda authorizer takes the tokens that principals of AWS and of any OpenID Connect issuer have; a user pool would be one more place for people.',
  'IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AmazonAPIGatewayPushToCloudWatchLogs]':
    'The role by which API Gateway writes logs for a whole account and Region; AWS asks for this policy, and cloudWatchRole: false leaves the role out.',
}

/**
 * Of the endpoint and of the function behind it: a watch ends after about a minute, since it is billed while it is
 * open.
 */
export const apiTimeout = Duration.seconds(90)

function placeOf({ vpcEndpoints }: ControlApiOptions): apigateway.RestApiProps {
  if (vpcEndpoints === undefined) return { endpointTypes: [apigateway.EndpointType.REGIONAL] }
  return {
    endpointConfiguration: { types: [apigateway.EndpointType.PRIVATE], vpcEndpoints: [...vpcEndpoints] },
    policy: onlyThrough(vpcEndpoints.map(({ vpcEndpointId }) => vpcEndpointId)),
  }
}

function onlyThrough(endpointIds: readonly string[]): iam.PolicyDocument {
  const everything = {
    actions: ['execute-api:Invoke'],
    resources: ['execute-api:/*'],
    principals: [new iam.AnyPrincipal()],
  }
  const elsewhere = { StringNotEquals: { 'aws:SourceVpce': [...endpointIds] } }
  return new iam.PolicyDocument({
    statements: [
      new iam.PolicyStatement(everything),
      new iam.PolicyStatement({ ...everything, effect: iam.Effect.DENY, conditions: elsewhere }),
    ],
  })
}

function nameOf({ domainName, certificate, vpcEndpoints }: ControlApiOptions): apigateway.RestApiProps {
  if (domainName === undefined && certificate === undefined) return {}
  if (domainName === undefined || certificate === undefined)
    throw new Error('a name of your own needs both, domainName and certificate')
  // Source: AWS CloudFormation, AWS::ApiGateway::BasePathMapping: "Supported only for public custom domain names".
  if (vpcEndpoints !== undefined)
    throw new Error('a private API cannot have domainName: make a private custom domain name (DomainNameV2) beside it')
  return {
    domainName: { domainName, certificate, endpointType: apigateway.EndpointType.REGIONAL },
    disableExecuteApiEndpoint: true,
  }
}

/** Other APIs of the account write their logs by it, too: it stays. */
function logRoleOf({ cloudWatchRole = true }: ControlApiOptions): apigateway.RestApiProps {
  return cloudWatchRole ? { cloudWatchRole, cloudWatchRoleRemovalPolicy: RemovalPolicy.RETAIN } : { cloudWatchRole }
}

function stageOf(props: ControlApiProps, accessLogs: logs.LogGroup): apigateway.StageOptions {
  return {
    stageName,
    throttlingRateLimit: props.throttlingRateLimit ?? 200,
    throttlingBurstLimit: props.throttlingBurstLimit ?? 400,
    accessLogDestination: new apigateway.LogGroupLogDestination(accessLogs),
    accessLogFormat: apigateway.AccessLogFormat.custom(JSON.stringify(accessLogFields)),
    tracingEnabled: props.tracing,
  }
}

/**
 * Who did what, and how it went. No header and no query, which may hold what is nobody's business. What callers word as
 * they like comes first: of two fields of a name readers take the last, and nothing says that the gateway escapes
 * quotation marks.
 */
const accessLogFields = {
  userAgent: '$context.identity.userAgent',
  path: '$context.path',
  requestId: '$context.requestId',
  time: '$context.requestTime',
  principal: '$context.authorizer.principalId',
  ip: '$context.identity.sourceIp',
  verb: '$context.httpMethod',
  status: '$context.status',
  bytes: '$context.responseLength',
  latencyMs: '$context.responseLatency',
  refused: '$context.error.responseType',
  traceId: '$context.xrayTraceId',
}

interface Refusal {
  readonly code: number
  /** Of `metav1.Status`. */
  readonly reason: string
}

/** What the gateway itself refuses, in the words kubectl knows. */
const refusals: readonly (readonly [apigateway.ResponseType, Refusal])[] = [
  [apigateway.ResponseType.UNAUTHORIZED, { code: 401, reason: 'Unauthorized' }],
  [apigateway.ResponseType.ACCESS_DENIED, { code: 403, reason: 'Forbidden' }],
  [apigateway.ResponseType.WAF_FILTERED, { code: 403, reason: 'Forbidden' }],
  [apigateway.ResponseType.REQUEST_TOO_LARGE, { code: 413, reason: 'RequestEntityTooLarge' }],
  [apigateway.ResponseType.THROTTLED, { code: 429, reason: 'TooManyRequests' }],
  [apigateway.ResponseType.QUOTA_EXCEEDED, { code: 429, reason: 'TooManyRequests' }],
  // The authorizer could not tell: a 401 would make kubectl throw a good token away.
  [apigateway.ResponseType.AUTHORIZER_FAILURE, { code: 503, reason: 'ServiceUnavailable' }],
  // Its function has failed, or did not start in time.
  [apigateway.ResponseType.AUTHORIZER_CONFIGURATION_ERROR, { code: 503, reason: 'ServiceUnavailable' }],
  [apigateway.ResponseType.INTEGRATION_FAILURE, { code: 503, reason: 'ServiceUnavailable' }],
  [apigateway.ResponseType.INTEGRATION_TIMEOUT, { code: 504, reason: 'Timeout' }],
]

/** Of these the API knows nothing. Behind a failure of its function a client has to look whether it was written. */
const mayRepeat: readonly apigateway.ResponseType[] = [
  apigateway.ResponseType.THROTTLED,
  apigateway.ResponseType.QUOTA_EXCEEDED,
  apigateway.ResponseType.AUTHORIZER_FAILURE,
  apigateway.ResponseType.AUTHORIZER_CONFIGURATION_ERROR,
]

function gatewayResponse(type: apigateway.ResponseType, { code, reason }: Refusal): apigateway.GatewayResponseOptions {
  const status = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message: '', reason, code }
  return {
    type,
    statusCode: String(code),
    responseHeaders: mayRepeat.includes(type) ? { 'Retry-After': "'1'" } : {},
    // API Gateway puts the message in with its quotation marks.
    templates: { 'application/json': JSON.stringify(status).replace('""', '$context.error.messageString') },
  }
}
