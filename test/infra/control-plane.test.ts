import { CfnParameter, RemovalPolicy, Stack, type CfnElement } from 'aws-cdk-lib'
import { Match, Template } from 'aws-cdk-lib/assertions'
import { Certificate } from 'aws-cdk-lib/aws-certificatemanager'
import { InterfaceVpcEndpoint } from 'aws-cdk-lib/aws-ec2'
import { Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam'
import { Key } from 'aws-cdk-lib/aws-kms'
import { CfnEventSourceMapping } from 'aws-cdk-lib/aws-lambda'
import { describe, expect, it } from 'vitest'
import { ControlPlane, type ControlPlaneProps } from '../../infra/constructs/control-plane.ts'
import { planeFunctions } from '../../infra/constructs/plane-functions.ts'
import { bearerToken } from '../../shared/model/access/bearer-token.ts'
import { relayedWrites } from '../../shared/adapters/aws/dynamodb/dynamodb-stream.ts'
import { apiRunMsMax } from '../../shared/runtime/aws/services.ts'
import { tableDefinition, timeToLiveAttribute } from '../../shared/adapters/aws/dynamodb/dynamodb-table.ts'
import { functionNames, functionOf, type FunctionName } from './lambda/synthesized-code.ts'
import { permissionsOf } from './policies.ts'
import {
  admin,
  deployed,
  expectProperties,
  expectResource,
  fixtures,
  resourcesOf,
  unbundledApp,
} from './synthesized.ts'

const { template, controlPlane } = deployed()
const synthesized = template()

interface TableShape {
  readonly GlobalSecondaryIndexes: readonly { readonly IndexName: string }[]
  readonly AttributeDefinitions: unknown
}

describe('the table', () => {
  it('is the one that the store works with', () => {
    const { AttributeDefinitions, StreamSpecification, ...definition } = tableDefinition
    expectProperties(synthesized, 'AWS::DynamoDB::Table', {
      ...definition,
      StreamSpecification: { StreamViewType: StreamSpecification?.StreamViewType },
      AttributeDefinitions: Match.arrayWith(AttributeDefinitions ?? []),
      TimeToLiveSpecification: { AttributeName: timeToLiveAttribute, Enabled: true },
    })
  })

  it('takes over a table of an earlier version in two deployments, each of which adds or removes one index', () => {
    const shapeOf = (deploying: typeof synthesized) => {
      const { Properties } = resourcesOf(deploying, 'AWS::DynamoDB::Table')['ControlPlaneTable1210433C'] ?? {}
      const { GlobalSecondaryIndexes, AttributeDefinitions, ...rest } = Properties as unknown as TableShape
      return { indexes: GlobalSecondaryIndexes.map(({ IndexName }) => IndexName).sort(), rest }
    }
    // As the version before this one had them.
    const earlier = ['changes', 'due', 'wheel']
    const first = shapeOf(deployed({ keepIndex: 'changes' }).template())
    const second = shapeOf(synthesized)
    expect(first.indexes).toEqual([...earlier, 'feed'].sort())
    expect(second.indexes).toEqual(first.indexes.filter((name) => name !== 'changes'))
    expect(first.rest).toEqual(second.rest)
  })

  it('is kept, unless its first deployment fails, and can be brought back to any second', () => {
    expectResource(synthesized, 'AWS::DynamoDB::Table', {
      DeletionPolicy: 'RetainExceptOnCreate',
      UpdateReplacePolicy: 'Retain',
      Properties: {
        PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
        DeletionProtectionEnabled: false,
      },
    })
  })

  it('is protected against deletion if that is asked for', () => {
    expectProperties(deployed({ deletionProtection: true }).template(), 'AWS::DynamoDB::Table', {
      DeletionProtectionEnabled: true,
    })
  })

  it('goes with the stack if that is asked for', () => {
    expectResource(deployed({ removalPolicy: RemovalPolicy.DESTROY }).template(), 'AWS::DynamoDB::Table', {
      DeletionPolicy: 'Delete',
      Properties: { DeletionProtectionEnabled: false },
    })
  })

  it("is encrypted with a customer's key, which the functions may use through DynamoDB only", () => {
    const stack = new Stack(unbundledApp(), 'Test')
    const withKey = deployed({ encryptionKey: new Key(stack, 'Key') }, {}, stack).template()
    expectProperties(withKey, 'AWS::DynamoDB::Table', {
      SSESpecification: { SSEEnabled: true, SSEType: 'KMS', KMSMasterKeyId: Match.anyValue() },
    })
    const statement = Match.objectLike({
      Action: Match.arrayWith(['kms:Decrypt']),
      Condition: { StringEquals: { 'kms:ViaService': Match.anyValue() } },
    })
    // Api, authorizer, relay, resync, dead letters, removal, system and two controllers.
    expect(
      Object.keys(
        withKey.findResources('AWS::IAM::Policy', {
          Properties: { PolicyDocument: { Statement: Match.arrayWith([statement]) } },
        }),
      ),
    ).toHaveLength(9)
  })
})

describe('the API', () => {
  it('streams every verb and path from one function, and takes no request without a token', () => {
    const methods = Object.values(resourcesOf(synthesized, 'AWS::ApiGateway::Method'))
    expect(methods).toHaveLength(2)
    for (const { Properties } of methods)
      expect(Properties).toMatchObject({
        HttpMethod: 'ANY',
        AuthorizationType: 'CUSTOM',
        AuthorizerId: expect.anything(),
        Integration: { Type: 'AWS_PROXY', ResponseTransferMode: 'STREAM', TimeoutInMillis: 90_000 },
      })
    expect(JSON.stringify(methods)).toContain('/response-streaming-invocations')
  })

  it('ends a request before a definition goes that it may still believe in', () => {
    const { description: Description } = planeFunctions.api
    expectProperties(synthesized, 'AWS::Lambda::Function', { Description, Timeout: apiRunMsMax / 1_000 })
  })

  it('has the name of its stack, by which its metrics are known', () => {
    const name = (stack: string): unknown =>
      Object.values(
        resourcesOf(deployed({}, {}, new Stack(unbundledApp(), stack)).template(), 'AWS::ApiGateway::RestApi'),
      )[0]?.Properties['Name']
    expect([name('Dev'), name('Prod')]).toEqual([
      expect.stringMatching(/^Dev-ControlPlane-Api/),
      expect.stringMatching(/^Prod-ControlPlane-Api/),
    ])
  })

  it('has one in twenty of its requests traced', () => {
    const [name] = Object.values(resourcesOf(synthesized, 'AWS::ApiGateway::RestApi')).map(
      ({ Properties }) => Properties['Name'],
    )
    expectProperties(synthesized, 'AWS::XRay::SamplingRule', {
      SamplingRule: Match.objectLike({ FixedRate: 0.05, ReservoirSize: 0, ServiceName: `${String(name)}/v1` }),
    })
    expect(resourcesOf(deployed({ tracing: false }).template(), 'AWS::XRay::SamplingRule')).toEqual({})
  })

  it('has a name that X-Ray takes, however long that of its stack is', () => {
    const stack = new Stack(unbundledApp(), 'Platform-Team-Setpoint-Production-Eu-Central-1-Green')
    const rules = resourcesOf(deployed({}, {}, stack).template(), 'AWS::XRay::SamplingRule')
    expect(Object.values(rules).map(({ Properties }) => Properties['SamplingRule'])).toMatchObject([
      {
        ServiceName: expect.stringMatching(/^.{20,64}$/) as unknown,
        RuleName: expect.stringMatching(/^.{20,32}$/) as unknown,
      },
    ])
  })

  it('writes no metrics of single methods, which would cost', () => {
    const [stage] = Object.values(resourcesOf(synthesized, 'AWS::ApiGateway::Stage'))
    expect(JSON.stringify(stage)).not.toContain('MetricsEnabled')
  })

  it('is regional, and leaves bytes as they are', () => {
    expectProperties(synthesized, 'AWS::ApiGateway::RestApi', {
      BinaryMediaTypes: ['*/*'],
      EndpointConfiguration: { Types: ['REGIONAL'] },
    })
  })

  it('is throttled, and logs who did what', () => {
    expectProperties(synthesized, 'AWS::ApiGateway::Stage', {
      AccessLogSetting: {
        DestinationArn: Match.anyValue(),
        Format: Match.stringLikeRegexp(
          '^{"userAgent":[^:]+,"path":[^:]+,"requestId":.*"principal":"[$]context.authorizer.principalId"',
        ),
      },
      MethodSettings: [
        Match.objectLike({ HttpMethod: '*', ResourcePath: '/*', ThrottlingRateLimit: 200, ThrottlingBurstLimit: 400 }),
      ],
      TracingEnabled: true,
    })
  })

  it('asks the authorizer for each token once a minute', () => {
    expectProperties(synthesized, 'AWS::ApiGateway::Authorizer', {
      Type: 'TOKEN',
      AuthorizerResultTtlInSeconds: 60,
      IdentitySource: 'method.request.header.Authorization',
    })
  })

  it('asks it for what says Bearer in whatever letters, as one machine takes it, and for nothing else', () => {
    const [one] = Object.values(resourcesOf(synthesized, 'AWS::ApiGateway::Authorizer'))
    const expression = new RegExp(one?.Properties['IdentityValidationExpression'] as string)
    const isAsked = (authorization: string): boolean => expression.test(authorization)
    const taken = ['Bearer abc', 'bearer abc', 'BEARER abc']
    const refused = ['Bearer', 'Bearer ', 'Basic abc', 'abc', 'xBearer abc']
    expect([taken.map(isAsked), refused.map(isAsked)]).toEqual([taken.map(() => true), refused.map(() => false)])
    expect(taken.map(bearerToken)).toEqual(taken.map(() => 'abc'))
  })

  it('refuses in the words of Kubernetes', () => {
    const refusals = Object.values(resourcesOf(synthesized, 'AWS::ApiGateway::GatewayResponse'))
    for (const { Properties } of refusals) {
      const { StatusCode, ResponseTemplates } = Properties as {
        readonly StatusCode: string
        readonly ResponseTemplates: Record<string, string>
      }
      const text = ResponseTemplates['application/json']?.replace('$context.error.messageString', '"why"') ?? ''
      expect(JSON.parse(text)).toMatchObject({ kind: 'Status', message: 'why', code: Number(StatusCode) })
    }
    const retried = refusals.filter(({ Properties }) => JSON.stringify(Properties).includes('Retry-After'))
    expect(retried.map(({ Properties }) => String(Properties['ResponseType'])).toSorted()).toEqual([
      'AUTHORIZER_CONFIGURATION_ERROR',
      'AUTHORIZER_FAILURE',
      'QUOTA_EXCEEDED',
      'THROTTLED',
    ])
    expect(refusals.map(({ Properties }) => Properties['ResponseType'])).toEqual(
      expect.arrayContaining(['UNAUTHORIZED', 'ACCESS_DENIED', 'THROTTLED', 'AUTHORIZER_FAILURE']),
    )
  })

  it('stands behind a firewall and under a name of its own if told so', () => {
    const stack = new Stack(unbundledApp(), 'Test')
    const certificate = Certificate.fromCertificateArn(stack, 'Certificate', 'arn:aws:acm:eu-west-1:1:certificate/a')
    const named = deployed(
      { webAclArn: 'arn:aws:wafv2:eu-west-1:1:regional/webacl/a', domainName: 'api.example.dev', certificate },
      {},
      stack,
    )
    expectProperties(named.template(), 'AWS::WAFv2::WebACLAssociation', {
      WebACLArn: 'arn:aws:wafv2:eu-west-1:1:regional/webacl/a',
    })
    expectProperties(named.template(), 'AWS::ApiGateway::DomainName', { DomainName: 'api.example.dev' })
    expectProperties(named.template(), 'AWS::ApiGateway::RestApi', { DisableExecuteApiEndpoint: true })
    expect(named.controlPlane.api.url).toBe('https://api.example.dev')
  })

  it('is deployed again when its authorizer changes, in an app that sets no flags of the CDK, too', () => {
    const deploymentIn = (flags: readonly string[]): readonly string[] => {
      const stack = new Stack(unbundledApp(), 'Test')
      for (const flag of flags) stack.node.setContext(flag, true)
      return Object.keys(resourcesOf(deployed({}, {}, stack).template(), 'AWS::ApiGateway::Deployment'))
    }
    expect(deploymentIn([])).toEqual(deploymentIn(['@aws-cdk/aws-apigateway:authorizerChangeDeploymentLogicalId']))
  })

  it('leaves the role of API Gateway out if told so, for an account that has one', () => {
    const types = ['AWS::ApiGateway::Account', 'AWS::ApiGateway::RestApi']
    const countsIn = (made: typeof synthesized) => types.map((type) => Object.keys(resourcesOf(made, type)).length)
    expect(countsIn(synthesized)).toEqual([1, 1])
    expect(countsIn(deployed({ cloudWatchRole: false }).template())).toEqual([0, 1])
  })

  it('refuses a name without a certificate', () => {
    expect(() => deployed({ domainName: 'api.example.dev' })).toThrow('needs both')
  })

  it('refuses a name for a private endpoint, which AWS has for public ones only', () => {
    const stack = new Stack(unbundledApp(), 'Test')
    const endpoint = { vpcEndpointId: 'vpce-1', port: 443 }
    const vpcEndpoints = [InterfaceVpcEndpoint.fromInterfaceVpcEndpointAttributes(stack, 'Endpoint', endpoint)]
    const certificate = Certificate.fromCertificateArn(stack, 'Certificate', 'arn:aws:acm:eu-west-1:1:certificate/a')
    expect(() => deployed({ vpcEndpoints, domainName: 'api.example.dev', certificate }, {}, stack)).toThrow(
      'a private API cannot have domainName',
    )
  })

  it('is private behind VPC endpoints, and refuses who comes another way', () => {
    const stack = new Stack(unbundledApp(), 'Test')
    const endpoint = InterfaceVpcEndpoint.fromInterfaceVpcEndpointAttributes(stack, 'Endpoint', {
      vpcEndpointId: 'vpce-1',
      port: 443,
    })
    expectProperties(deployed({ vpcEndpoints: [endpoint] }, {}, stack).template(), 'AWS::ApiGateway::RestApi', {
      EndpointConfiguration: { Types: ['PRIVATE'], VpcEndpointIds: ['vpce-1'] },
      Policy: {
        Statement: [
          Match.objectLike({ Effect: 'Allow' }),
          Match.objectLike({
            Effect: 'Deny',
            Condition: { StringNotEquals: { 'aws:SourceVpce': ['vpce-1'] } },
          }),
        ],
      },
    })
  })
})

it('has the name of its stack in all that an account and Region has once: two stacks of one construct stand side by side', () => {
  const namesIn = (stackName: string): readonly string[] => {
    const made = deployed({}, {}, new Stack(unbundledApp(), 'Test', { stackName })).template()
    const all = Object.values((made.toJSON() as { readonly Resources: Readonly<Record<string, Named>> }).Resources)
    return all.flatMap(({ Type, Properties: { Name, DashboardName, SamplingRule } = {} }) => {
      const name = Name ?? DashboardName ?? SamplingRule?.RuleName
      // The name of an authorizer is of its API.
      return name === undefined || Type === 'AWS::ApiGateway::Authorizer' ? [] : [JSON.stringify(name)]
    })
  }
  const [dev, prod] = [namesIn('Dev'), namesIn('Prod')]
  expect(dev).toHaveLength(5)
  expect(dev.filter((name) => prod.includes(name))).toEqual([])
})

interface Named {
  readonly Type: string
  readonly Properties?: {
    readonly Name?: unknown
    readonly DashboardName?: unknown
    readonly SamplingRule?: { readonly RuleName: unknown }
  }
}

describe('keys of tokens', () => {
  const one = deployed()
  /** A permission on a table of keys, in the words of `permissionsOf`. */
  const keys = (name: FunctionName) =>
    permissionsOf(one, name).filter((permission) => /(signing|token)-keys/.test(permission))

  const variablesOf = (name: FunctionName): readonly string[] => {
    const id = one.stack.getLogicalId(functionOf(one, name).node.defaultChild as never)
    const { Environment } = resourcesOf(one.template(), 'AWS::Lambda::Function')[id]?.Properties ?? {}
    return Object.keys((Environment as { readonly Variables: object }).Variables).sort()
  }

  it('are read and made by the API alone; the authorizer reads the public ones', () => {
    const others = functionNames.filter((name) => name !== 'api' && name !== 'authorizer')
    for (const name of others) expect([name, keys(name)]).toEqual([name, []])
    expect(keys('authorizer')).toEqual(['dynamodb:GetItem token-keys'])
    expect(keys('api')).toEqual([
      ...['GetItem', 'PutItem'].flatMap((action) => [
        `dynamodb:${action} signing-keys`,
        `dynamodb:${action} token-keys`,
      ]),
      'dynamodb:Scan token-keys',
    ])
  })

  it('are not objects: no function has them in the table that reconcilers read', () => {
    const { table, tokenKeys } = one.controlPlane
    expect(new Set([table, tokenKeys.signing, tokenKeys.shown]).size).toBe(3)
    const told = (name: FunctionName) => variablesOf(name).filter((key) => key.endsWith('_KEYS'))
    expect(told('api')).toEqual(['SETPOINT_SIGNING_KEYS', 'SETPOINT_TOKEN_KEYS'])
    expect(told('authorizer')).toEqual(['SETPOINT_TOKEN_KEYS'])
    for (const name of ['relay', 'resync', 'system', 'shelf'] as const) expect(told(name)).toEqual([])
  })

  it('go with the stack, and cost nothing at rest: their tables are billed by the request', () => {
    for (const id of [/TokenKeysSigning/, /TokenKeysShown/]) {
      const [, found] =
        Object.entries(resourcesOf(one.template(), 'AWS::DynamoDB::Table')).find(([key]) => id.test(key)) ?? []
      expect(found).toMatchObject({ DeletionPolicy: 'Delete', Properties: { BillingMode: 'PAY_PER_REQUEST' } })
    }
  })

  it('are forgotten when the last token of a key has ended', () => {
    expectProperties(one.template(), 'AWS::DynamoDB::Table', {
      KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
      TimeToLiveSpecification: { AttributeName: 'expires', Enabled: true },
    })
  })
})

it('the API, and nobody else, is told which mapping reads the stream: another one with each table', () => {
  const made = deployed().template()
  const all = Object.values(resourcesOf(made, 'AWS::Lambda::Function'))
  const told = all.flatMap(({ Properties: { Environment } }) => {
    const { Variables = {} } = (Environment ?? {}) as { readonly Variables?: Readonly<Record<string, unknown>> }
    return 'SETPOINT_TABLE_SWITCH' in Variables ? [Variables['SETPOINT_TABLE_SWITCH']] : []
  })
  const mappings = Object.entries(resourcesOf(made, 'AWS::Lambda::EventSourceMapping'))
  const [relay] = mappings.find(([, { Properties }]) => 'StartingPosition' in Properties) ?? []
  expect(told).toEqual([{ Ref: relay }])
})

it('what runs reconcilers is told one name of the control plane, which a restored table does not change', () => {
  const { stack, controlPlane: plane } = deployed()
  const all = Object.values(resourcesOf(Template.fromStack(stack), 'AWS::Lambda::Function'))
  const told = all.flatMap(({ Properties: { Environment } }) => {
    const { Variables = {} } = (Environment ?? {}) as { readonly Variables?: Readonly<Record<string, unknown>> }
    expect(Variables['SETPOINT_TABLE']).toHaveProperty('Fn::If')
    return 'SETPOINT_PLANE' in Variables ? [Variables['SETPOINT_PLANE']] : []
  })
  const own = stack.getLogicalId(plane.node.findChild('Table').node.defaultChild as CfnElement)
  // The shared function and those of the two isolated Controllers.
  expect(told).toEqual([own, own, own].map((id) => ({ Ref: id })))
})

describe('the authorizer', () => {
  it('lets in who is on the list, and nobody else', () => {
    expectProperties(synthesized, 'AWS::Lambda::Function', {
      Environment: {
        Variables: Match.objectLike({
          SETPOINT_ADMINS: JSON.stringify([admin]),
          SETPOINT_ISSUERS: '[]',
          SETPOINT_CLUSTER_ID: Match.anyValue(),
        }),
      },
    })
  })

  it('is told the same as the API, which says in a TokenReview whose a token is', () => {
    expectProperties(synthesized, 'AWS::Lambda::Function', {
      Environment: {
        Variables: Match.objectLike({
          SETPOINT_ADMINS: JSON.stringify([admin]),
          SETPOINT_ISSUERS: '[]',
          SETPOINT_ACCOUNT: Match.anyValue(),
          SETPOINT_SIGNING_KEYS: Match.anyValue(),
        }),
      },
    })
  })

  it('lets in a role that was granted it, which may get itself a token', () => {
    const one = deployed({ issuers: [{ issuer: 'https://issuer.example', audience: 'setpoint' }] })
    const role = new Role(one.stack, 'Deployer', { assumedBy: new ServicePrincipal('codebuild.amazonaws.com') })
    one.controlPlane.grantApply(role).assertSuccess()
    const variables = Match.objectLike({
      SETPOINT_ADMINS: { 'Fn::Join': ['', [`["${admin}","`, { 'Fn::GetAtt': Match.arrayWith(['Arn']) }, '"]']] },
    })
    expectProperties(one.template(), 'AWS::Lambda::Function', { Environment: { Variables: variables } })
    expectProperties(one.template(), 'AWS::IAM::Policy', {
      PolicyDocument: { Statement: [Match.objectLike({ Action: 'sts:GetWebIdentityToken' })] },
      Roles: [Match.objectLike({ Ref: Match.stringLikeRegexp('Deployer') })],
    })
  })
})

describe('a reader', () => {
  it('is on a list of its own', () => {
    const one = deployed()
    const role = new Role(one.stack, 'Auditor', { assumedBy: new ServicePrincipal('ec2.amazonaws.com') })
    one.controlPlane.grantRead(role)
    // Without issuers it signs in by a presigned request, which takes no permission.
    expect(JSON.stringify(one.template().findResources('AWS::IAM::Policy'))).not.toContain('GetWebIdentityToken')
    const variables = Match.objectLike({
      SETPOINT_ADMINS: JSON.stringify([admin]),
      SETPOINT_READERS: { 'Fn::Join': ['', ['["', { 'Fn::GetAtt': Match.arrayWith(['Arn']) }, '"]']] },
    })
    expectProperties(one.template(), 'AWS::Lambda::Function', { Environment: { Variables: variables } })
  })

  it('must be somebody who can sign in', () => {
    const anyone = new ServicePrincipal('ec2.amazonaws.com')
    expect(() => deployed().controlPlane.grantRead(anyone)).toThrow('only a role or a user')
  })
})

describe('the relay', () => {
  it('reads the stream from its beginning, all that it keeps, and no bad record stops it', () => {
    expectProperties(synthesized, 'AWS::Lambda::EventSourceMapping', {
      StartingPosition: 'TRIM_HORIZON',
      BisectBatchOnFunctionError: true,
      MaximumRetryAttempts: 30,
      MaximumRecordAgeInSeconds: 86_400,
      FunctionResponseTypes: ['ReportBatchItemFailures'],
      DestinationConfig: { OnFailure: { Destination: Match.anyValue() } },
      FilterCriteria: {
        Filters: [{ Pattern: JSON.stringify(relayedWrites) }],
      },
    })
  })

  const plane = (props: Partial<ControlPlaneProps> = {}): ControlPlane =>
    new ControlPlane(new Stack(unbundledApp(), 'Test'), 'ControlPlane', {
      reconcilers: fixtures,
      adminPrincipals: [],
      ...props,
    })
  /** How many functions each mapping runs at most, that of dead letters left out; the stream has four shards. */
  const atOnce = (props?: Partial<ControlPlaneProps>): readonly number[] =>
    plane(props)
      .node.findAll()
      .flatMap((one) => (one instanceof CfnEventSourceMapping ? [one] : []))
      .map(({ startingPosition, parallelizationFactor, scalingConfig }) => {
        const { maximumConcurrency = Infinity } = (scalingConfig ?? {}) as CfnEventSourceMapping.ScalingConfigProperty
        return startingPosition === undefined ? maximumConcurrency : 4 * (parallelizationFactor ?? 1)
      })
      .filter((most) => most !== Infinity)
      .toSorted((a, b) => a - b)

  it('leaves the ten functions at once of a new account to others, too: one for each of the four shards', () => {
    expect(atOnce()).toEqual([2, 4])
  })

  it('relays more batches of a shard at once where it is asked to', () => {
    expect(atOnce({ relaysPerShard: 4 })).toEqual([2, 16])
  })

  it('tells the tick how many objects run at once, which sets its pace', () => {
    const paced = deployed({ sharedConcurrency: 40 }).template()
    expectProperties(paced, 'AWS::Lambda::Function', {
      Description: planeFunctions.resync.description,
      Environment: { Variables: Match.objectLike({ SETPOINT_SHARED_CONCURRENCY: '40' }) },
    })
  })
})

describe('executions of functions', () => {
  const reservedOf = (from: Template) =>
    Object.values(resourcesOf(from, 'AWS::Lambda::Function')).flatMap(
      ({ Properties: { Description, ReservedConcurrentExecutions: count } }) =>
        count === undefined ? [] : [[Description, count]],
    )

  it('are reserved where it is asked for: as many as the queues of each may use at once', () => {
    const reserved = reservedOf(deployed({ reserveConcurrency: true, sharedConcurrency: 40 }).template())
    expect(Object.fromEntries(reserved)).toEqual({
      [planeFunctions.system.description]: 4,
      'Runs the reconciler shelf': 4,
      'Runs the reconciler lamp': 2,
    })
  })

  it('are not reserved by default: an account of ten has none to reserve', () => {
    expect(reservedOf(synthesized)).toEqual([])
  })
})

describe('traces', () => {
  const traces = { endpoint: 'http://localhost:4318', headers: { 'x-key': 'a b' } }
  const told = (from: Template): readonly string[] =>
    Object.values(resourcesOf(from, 'AWS::Lambda::Function'))
      .filter(({ Properties: { Environment } }) => JSON.stringify(Environment ?? {}).includes('OTEL_'))
      .map(({ Properties: { Description } }) => String(Description))

  it('are sent by the API and by what runs reconcilers, and by nobody unless they are asked for', () => {
    const sending = deployed({ traces }).template()
    const { api, system } = planeFunctions
    expect(told(sending)).toEqual(expect.arrayContaining([api.description, system.description]))
    expect(told(sending)).not.toContain(planeFunctions.relay.description)
    expectProperties(sending, 'AWS::Lambda::Function', {
      Description: api.description,
      Environment: {
        Variables: Match.objectLike({
          OTEL_EXPORTER_OTLP_ENDPOINT: 'http://localhost:4318',
          OTEL_EXPORTER_OTLP_HEADERS: 'x-key=a%20b',
          OTEL_TRACES_SAMPLER_ARG: '0.05',
        }),
      },
    })
    expect(told(deployed({}).template())).toEqual([])
  })
})

describe('headers of traces', () => {
  it('may come from a secret or a parameter: what CloudFormation fills in stays as it is', () => {
    const stack = new Stack(unbundledApp(), 'Test')
    const key = new CfnParameter(stack, 'Key', { noEcho: true })
    const traces = { endpoint: 'http://localhost:4318', headers: { 'x-key': key.valueAsString, 'x-team': 'a b' } }
    expectProperties(deployed({ traces }, {}, stack).template(), 'AWS::Lambda::Function', {
      Environment: {
        Variables: Match.objectLike({
          OTEL_EXPORTER_OTLP_HEADERS: { 'Fn::Join': ['', ['x-key=', { Ref: 'Key' }, ',x-team=a%20b']] },
        }),
      },
    })
  })
})

describe('traces by ADOT', () => {
  const adot = (of: object, tracing = true) => deployed({ traces: { adot: of, ratio: 0.01 }, tracing }).template()
  const properties = { Description: planeFunctions.api.description }

  it('go to the collector in the layer of AWS for arm64 in the stack’s Region, one in a hundred', () => {
    const sending = adot({})
    const functions = Object.values(resourcesOf(sending, 'AWS::Lambda::Function')).map(({ Properties }) => Properties)
    const layered = functions.filter(({ Layers }) => Layers !== undefined)
    expect(layered.map(({ Description }) => Description)).toEqual(
      expect.arrayContaining([planeFunctions.api.description, planeFunctions.system.description]),
    )
    expect(layered.map(({ Description }) => Description)).not.toContain(planeFunctions.relay.description)
    // By Region, since the stack may be deployed into any.
    expect(JSON.stringify(layered.map(({ Layers }) => Layers))).toMatch(
      /"arn:aws:lambda:",{"Ref":"AWS::Region"},":901920570463:layer:aws-otel-collector-arm64-ver-[\d-]+:\d+"/,
    )
    expectProperties(sending, 'AWS::Lambda::Function', {
      ...properties,
      Environment: {
        Variables: Match.objectLike({
          OTEL_EXPORTER_OTLP_ENDPOINT: 'http://localhost:4318',
          OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
          OTEL_TRACES_SAMPLER_ARG: '0.01',
          AWS_LAMBDA_EXEC_WRAPPER: Match.absent(),
          OPENTELEMETRY_COLLECTOR_CONFIG_URI: Match.absent(),
        }),
      },
    })
  })

  it('use the layer and the configuration that are given', () => {
    const layerArn = 'arn:aws:lambda:eu-west-1:901920570463:layer:aws-otel-collector-arm64-ver-0-117-0:1'
    expectProperties(adot({ layerArn, configuration: 's3://bucket/collector.yaml' }), 'AWS::Lambda::Function', {
      ...properties,
      Layers: [layerArn],
      Environment: {
        Variables: Match.objectLike({ OPENTELEMETRY_COLLECTOR_CONFIG_URI: 's3://bucket/collector.yaml' }),
      },
    })
  })

  it('may be handed on to X-Ray, by the functions that send them and no others', () => {
    const policies = Object.values(resourcesOf(adot({}, false), 'AWS::IAM::Policy')).map(({ Properties }) => Properties)
    const allowed = policies.filter((policy) => JSON.stringify(policy).includes('xray:PutTraceSegments'))
    expect(allowed.map(({ Roles }) => JSON.stringify(Roles))).toEqual([
      expect.stringContaining('ApiFunctionRole'),
      expect.stringContaining('SystemFunctionRole'),
      expect.stringContaining('ShelvesFunctionRole'),
      expect.stringContaining('LampsFunctionRole'),
    ])
  })

  it.each([
    [{ adot: {}, endpoint: 'https://collector.example.com:4318' }, /they have no endpoint/],
    [{}, /need the endpoint of a collector, or adot/],
    [{ endpoint: 'collector:4318' }, /must begin with https:\/\/ or http:\/\//],
    [{ adot: {}, ratio: 2 }, /ratio of traces must be from 0 to 1/],
  ])('that are %j are refused', (traces, why) => {
    expect(() => deployed({ traces })).toThrow(why)
  })
})

describe('the history of runs', () => {
  it('is told to the functions where it is not the default', () => {
    expectProperties(deployed({ runHistory: 'all' }).template(), 'AWS::Lambda::Function', {
      Environment: { Variables: Match.objectLike({ SETPOINT_RUNS: 'all' }) },
    })
  })
})

describe('the record of requests', () => {
  it.each(['on', 'writes'] as const)('is told to the function of the API where it is wanted: %s', (audit) => {
    expectProperties(deployed({ audit }).template(), 'AWS::Lambda::Function', {
      Environment: { Variables: Match.objectLike({ SETPOINT_AUDIT: audit }) },
    })
  })
})

describe('the retry budget', () => {
  it.each([
    [{ perSecond: 5, burst: 20 }, '5/20'],
    ['none', 'none'],
  ] as const)('that is %j is told to the functions as %s', (retryBudget, told) => {
    const functions = deployed({ retryBudget }).template()
    expectProperties(functions, 'AWS::Lambda::Function', {
      Environment: { Variables: Match.objectLike({ SETPOINT_QUEUES: Match.anyValue(), SETPOINT_RETRY_BUDGET: told }) },
    })
    expect(JSON.stringify(synthesized)).not.toContain('SETPOINT_RETRY_BUDGET')
  })
})

describe('the tick', () => {
  it('can be several, each for its share of the objects', () => {
    const rules = Object.values(resourcesOf(deployed({ ticksAtOnce: 7 }).template(), 'AWS::Events::Rule'))
    const targets = rules.flatMap(({ Properties: { Targets } }) => Targets as readonly { readonly Input: string }[])
    expect(rules).toHaveLength(2)
    expect(targets.map(({ Input }) => JSON.parse(Input) as unknown)).toEqual(
      Array.from({ length: 7 }, (_, index) => ({ share: { index, of: 7 } })),
    )
    expect(() => deployed({ ticksAtOnce: 9 })).toThrow('ticksAtOnce must be 1 to 8')
  })

  it('comes every minute, and one that fails is not tried again', () => {
    expectProperties(synthesized, 'AWS::Events::Rule', {
      ScheduleExpression: 'rate(1 minute)',
      Targets: [Match.objectLike({ RetryPolicy: { MaximumRetryAttempts: 0, MaximumEventAgeInSeconds: 60 } })],
    })
    // What EventBridge has handed over, Lambda itself would run three times, for six hours.
    const [resync] = Object.entries(resourcesOf(synthesized, 'AWS::Lambda::Function')).filter(
      ([, { Properties }]) => Properties['Description'] === planeFunctions.resync.description,
    )
    expectProperties(synthesized, 'AWS::Lambda::EventInvokeConfig', {
      FunctionName: { Ref: resync?.[0] },
      MaximumRetryAttempts: 0,
      MaximumEventAgeInSeconds: 60,
    })
  })
})

describe('every function', () => {
  const functions = Object.values(resourcesOf(synthesized, 'AWS::Lambda::Function'))

  it('is Node 24 on arm64, traced where the gateway chose to, and stopped when it goes round in circles', () => {
    expect(functions).toHaveLength(9)
    for (const { Properties } of functions)
      expect(Properties).toMatchObject({
        Runtime: 'nodejs24.x',
        Architectures: ['arm64'],
        TracingConfig: { Mode: 'PassThrough' },
        RecursiveLoop: 'Terminate',
      })
  })

  it('has a role and a log of its own', () => {
    const ofEach = (property: string) =>
      new Set(functions.map(({ Properties }) => JSON.stringify(Properties[property])))
    expect(ofEach('Role').size).toBe(functions.length)
    expect(ofEach('LoggingConfig').size).toBe(functions.length)
    synthesized.allResourcesProperties('AWS::Logs::LogGroup', { RetentionInDays: 30 })
  })

  it('has no managed policy', () => {
    const roles = Object.values(
      synthesized.findResources('AWS::IAM::Role', {
        Properties: {
          AssumeRolePolicyDocument: {
            Statement: [Match.objectLike({ Principal: { Service: 'lambda.amazonaws.com' } })],
          },
        },
      }),
    )
    expect(roles).toHaveLength(9)
    expect(JSON.stringify(roles)).not.toContain('ManagedPolicyArns')
  })
})

describe('a control plane', () => {
  it('has a Controller for each reconciler of its list, or is not synthesized', () => {
    const stack = new Stack(unbundledApp(), 'Test')
    const alone = new ControlPlane(stack, 'ControlPlane', { reconcilers: fixtures, adminPrincipals: [admin] })
    expect(alone.node.validate()).toEqual([
      expect.stringContaining('the reconciler shelf'),
      expect.stringContaining('the reconciler lamp'),
    ])
    expect(controlPlane.node.validate()).toEqual([])
  })

  it('says what it measures of itself', () => {
    expect(controlPlane.metricApiErrors().metricName).toBe('5XXError')
    expect(controlPlane.metricRelayDelay()).toMatchObject({ metricName: 'IteratorAge', statistic: 'Maximum' })
  })
})
