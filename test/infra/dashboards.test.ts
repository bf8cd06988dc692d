import { Stack } from 'aws-cdk-lib'
import { Template } from 'aws-cdk-lib/assertions'
import type { CfnDashboard } from 'aws-cdk-lib/aws-cloudwatch'
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { dashboardUrl } from '../../infra/dashboards/dashboard.ts'
import { SetpointStack } from '../../infra/setpoint-stack.ts'
import { emfMetrics } from '../../shared/adapters/aws/emf-metrics.ts'
import { metrics } from '../../shared/model/metrics.ts'
import { drawn as draw, type Widget } from './preview/svg.ts'
import { deployed, resourcesOf, templateOf, unbundledApp, widgetsOf } from './synthesized.ts'

const all = deployed()
const template = all.template()

const widgets = (dashboard: CfnDashboard | undefined): readonly Widget[] => widgetsOf(all, dashboard)

/** Names and dimensions of our own metrics that a dashboard draws, whether it names a series or searches. */
function drawn(dashboard: CfnDashboard | undefined): readonly string[] {
  return widgets(dashboard).flatMap(({ properties }) => (properties.metrics ?? []).flatMap(ours))
}

function ours(line: readonly unknown[]): readonly string[] {
  const [first] = line
  if (typeof first === 'object') return searched((first as { readonly expression?: string }).expression ?? '')
  if (first !== 'Setpoint/Test') return []
  const texts = line.filter((one) => typeof one === 'string').slice(1)
  return [`${texts[0] ?? ''} ${texts.filter((_, i) => i % 2 === 1).join()}`]
}

function searched(expression: string): readonly string[] {
  const found = expression.matchAll(/\{"Setpoint\/Test",([\w,]+)\} MetricName="(\w+)"/g)
  return [...found].map(([, dimensions = '', name = '']) => `${name} ${dimensions}`)
}

const overviewMetrics = drawn(all.controlPlane.dashboard)
const pageMetrics = drawn(all.controlPlane.controllerDashboard)
const emitted = emfMetrics().map(({ name, dimensions }) => `${name} ${dimensions.join()}`)
const unique = (texts: readonly string[]): readonly string[] => [...new Set(texts)].toSorted()

describe('what the dashboards draw is what the code writes', () => {
  it('and all of it, once both are looked at', () => {
    expect(unique([...overviewMetrics, ...pageMetrics])).toEqual(
      unique(emitted.filter((metric) => !metric.endsWith(' '))),
    )
  })

  it('on the page of a controller everything that is written by controller', () => {
    const byController = emitted.filter((metric) => / controller/.test(metric))
    expect(unique(pageMetrics)).toEqual(unique(byController))
  })

  it('and alarms look at all that is written without a dimension, and at nothing else', () => {
    const alarms = Object.values(resourcesOf(template, 'AWS::CloudWatch::Alarm')).map(({ Properties }) => Properties)
    const own = alarms.filter(({ Namespace }) => Namespace === 'Setpoint/Test')
    for (const { Dimensions } of own) expect(Dimensions).toBeUndefined()
    expect(unique(own.map(({ MetricName }) => `${String(MetricName)} `))).toEqual(
      unique(emitted.filter((metric) => metric.endsWith(' '))),
    )
  })
})

it('a line that is drawn as an alarm is the threshold of one, on the same metric', () => {
  const alarms = Object.values(resourcesOf(template, 'AWS::CloudWatch::Alarm')).map(({ Properties }) => Properties)
  const raised = alarms.map(({ MetricName, Threshold }) => `${String(MetricName)} ${String(Threshold)}`)
  const shown = [all.controlPlane.dashboard, all.controlPlane.controllerDashboard].flatMap((one) => widgets(one))
  const named = shown.flatMap(({ properties: { annotations, metrics: lines = [] } }) => {
    const [name] = lines.map((line) => ours(line)[0]?.split(' ')[0] ?? String(line[1]))
    const limits = (annotations?.horizontal ?? []).filter(({ label }) => label === 'alarm')
    return limits.map(({ value }) => `${name} ${value}`)
  })
  expect(unique(named)).toEqual(['IteratorAge 60000', 'setpoint_oldest_unconverged_seconds 900'])
  for (const one of named) expect(raised).toContain(one)
})

it('an alarm on objects names the command that shows them', () => {
  const alarms = Object.values(resourcesOf(template, 'AWS::CloudWatch::Alarm')).map(({ Properties }) => Properties)
  const commands = JSON.stringify(alarms).match(/kubectl get [^"\\\\]+/g)
  expect(unique(commands ?? [])).toEqual(['kubectl get <kind> -A -o wide'])
})

it('are named by their Region, too, since the names of all Regions of an account are in one place', () => {
  const pages = Object.values(resourcesOf(template, 'AWS::CloudWatch::Dashboard'))
  const stack = 'Test'
  const names = pages.map(({ Properties }) => Properties['DashboardName'])
  const name = (...ending: readonly string[]) => ({
    'Fn::Join': ['', [`${stack}-`, { Ref: 'AWS::Region' }, ...ending]],
  })
  expect(names).toEqual([name(), name('-controllers')])
})

describe('the link to a dashboard', () => {
  const linkIn = (region: string): unknown => {
    const stack = new Stack(unbundledApp(), 'Link', { env: { region } })
    // As in cdk.json.
    stack.node.setContext('@aws-cdk/core:enablePartitionLiterals', true)
    return stack.resolve(dashboardUrl(stack, 'page'))
  }

  it.each([
    { region: 'eu-west-1', host: 'eu-west-1.console.aws.amazon.com' },
    { region: 'cn-north-1', host: 'cn-north-1.console.amazonaws.cn' },
    { region: 'us-gov-west-1', host: 'us-gov-west-1.console.amazonaws-us-gov.com' },
    { region: 'eusc-de-east-1', host: 'eusc-de-east-1.console.amazonaws-eusc.eu' },
  ])('leads to the console of the partition: $host', ({ region, host }) => {
    expect(linkIn(region)).toBe(`https://${host}/cloudwatch/home?region=${region}#dashboards:name=page`)
  })

  it('is found by the partition where the Region is known by the deployment only, and any number of times', () => {
    const stack = new Stack(unbundledApp(), 'Link')
    const links = ['a', 'b'].map((name) => stack.resolve(dashboardUrl(stack, name)))
    expect(JSON.stringify(links[1])).toContain(
      '{"Fn::FindInMap":["DashboardConsoles",{"Ref":"AWS::Partition"},"host"]}',
    )
    const { Mappings } = Template.fromStack(stack).toJSON() as { readonly Mappings: Record<string, object> }
    expect(Object.keys(Mappings['DashboardConsoles'] ?? {})).toContain('aws-us-gov')
  })
})

it('the page of the controllers lets each of them be chosen', () => {
  const id = all.stack.getLogicalId(all.controlPlane.controllerDashboard)
  const body = JSON.stringify(resourcesOf(template, 'AWS::CloudWatch::Dashboard')[id]?.Properties['DashboardBody'])
  const [, variables = ''] = /\\"variables\\":(\[.*?\}\]\}\])/.exec(body) ?? []
  expect(JSON.parse(variables.replaceAll('\\"', '"'))).toEqual([
    expect.objectContaining({
      type: 'pattern',
      pattern: 'chosen-controller',
      defaultValue: 'shelf',
      values: [
        { value: 'shelf', label: 'shelf' },
        { value: 'lamp', label: 'lamp' },
      ],
    }),
  ])
})

it('alarms may be told to their topic: with a policy of its own it has not the default one that lets them', () => {
  const [policy] = Object.values(resourcesOf(template, 'AWS::SNS::TopicPolicy'))
  expect(policy?.Properties['PolicyDocument']).toMatchObject({
    Statement: expect.arrayContaining([
      expect.objectContaining({
        Effect: 'Allow',
        Action: 'sns:Publish',
        Principal: { Service: 'cloudwatch.amazonaws.com' },
        Resource: { Ref: expect.stringContaining('Alarms') },
        Condition: { StringEquals: { 'aws:SourceAccount': { Ref: 'AWS::AccountId' } } },
      }),
    ]),
  })
})

it('the results of reconciles that are drawn are all that there are', () => {
  const results = JSON.stringify(widgets(all.controlPlane.controllerDashboard)).match(/"result","\w+"/g)
  // As its help says: success, error, requeue, requeue_after.
  for (const result of results ?? []) expect(metrics.reconcileTotal.help).toContain(result.split('"')[3])
  expect(new Set(results).size).toBe(4)
})

describe.each([
  ['the overview', all.controlPlane.dashboard],
  ['the page of a controller', all.controlPlane.controllerDashboard],
])('%s', (_, dashboard) => {
  const shown = widgets(dashboard)

  it('says first how to read it', () => {
    expect(shown[0]).toMatchObject({ type: 'text', x: 0, y: 0, width: 24 })
    expect(shown[0]?.properties.markdown).toMatch(/^# .{200}/s)
  })

  it('gives every graph a title of its own', () => {
    const titles = shown.filter(({ type }) => type !== 'text').map(({ properties }) => properties.title)
    expect(new Set(titles).size).toBe(titles.length)
    expect(titles).not.toContain(undefined)
  })

  it('fills its rows', () => {
    const rows = Map.groupBy(shown, ({ y }) => y)
    for (const row of rows.values()) expect(row.reduce((sum, { width }) => sum + width, 0)).toBe(24)
  })

  it('has no more lines than CloudWatch draws', () => {
    for (const { properties } of shown) expect(properties.metrics?.length ?? 0).toBeLessThan(500)
  })
})

describe('the pictures in docs/aws.md', () => {
  const stack = new SetpointStack(unbundledApp(), 'Setpoint', { adminPrincipals: [], issuers: [], disposable: true })
  const own = { stack, template: () => templateOf(stack) }

  it.each([
    ['overview', stack.controlPlane.dashboard],
    ['controller', stack.controlPlane.controllerDashboard],
  ] as const)('of the %s have the panels and texts that are deployed, and lines of a run', (name, dashboard) => {
    const picture = readFileSync(`docs/images/${name}.svg`, 'utf8')
    // As many as are deployed and no more: one that is taken away has to go from the picture, too.
    const frames = draw(widgetsOf(own, dashboard, 'konnectservice'), [], { fromMs: 0, toMs: 1, buckets: 1 })
    const textsOf = (svg: string): readonly string[] =>
      [...svg.matchAll(/<text x="(?:8|10)" y="\d+" font-size="\d+"[^>]*>([^<]*)</g)].map(([, text = '']) => text)
    expect(textsOf(picture)).toEqual(textsOf(frames))
    expect(textsOf(frames).length).toBeGreaterThan(10)
    expect(picture.match(/<polyline points="[^"]{40,}"/g)?.length).toBeGreaterThanOrEqual(3)
  })

  it('have room for their texts', () => {
    for (const dashboard of [stack.controlPlane.dashboard, stack.controlPlane.controllerDashboard])
      for (const { properties, height, width } of widgetsOf(own, dashboard)) {
        if (properties.markdown === undefined) continue
        // As CloudWatch draws them: a heading takes two lines, and a line some eight pixels a letter.
        const lines = properties.markdown
          .split('\n')
          .map((line) => (line.startsWith('#') ? 2 : Math.ceil(line.length / (7 * width))))
        expect(lines.reduce((sum, one) => sum + one, 0)).toBeLessThanOrEqual(2 * height)
      }
  })
})

describe('alarms', () => {
  const alarms = Object.values(resourcesOf(template, 'AWS::CloudWatch::Alarm')).map(({ Properties }) => Properties)

  it('say what is wrong, and tell the topic when it begins and when it is over', () => {
    for (const alarm of alarms) {
      expect(String(alarm['AlarmDescription']).length).toBeGreaterThan(40)
      expect(alarm['AlarmActions']).toHaveLength(1)
      expect(alarm['OKActions']).toEqual(alarm['AlarmActions'])
    }
  })

  it('are quiet while nothing happens, but for the tick, which always happens', () => {
    const breaching = alarms.filter(({ TreatMissingData }) => TreatMissingData === 'breaching')
    expect(breaching.map(({ MetricName, Statistic }) => [MetricName, Statistic])).toEqual([['Errors', 'Average']])
  })

  it.each([
    { ticksAtOnce: 1, quiet: [0, 0.2, 0.8], loud: [1] },
    // One that always fails is one in eight.
    { ticksAtOnce: 8, quiet: [0, 0.1], loud: [5 / 41, 1] },
  ])('tell of ticks that always fail, if there are $ticksAtOnce', ({ ticksAtOnce, quiet, loud }) => {
    const made = Object.values(resourcesOf(deployed({ ticksAtOnce }).template(), 'AWS::CloudWatch::Alarm'))
    const [tick] = made.filter(({ Properties }) => Properties['TreatMissingData'] === 'breaching')
    const { Threshold, ComparisonOperator } = tick?.Properties ?? {}
    expect(ComparisonOperator).toBe('GreaterThanOrEqualToThreshold')
    for (const share of quiet) expect(share).toBeLessThan(Number(Threshold))
    for (const share of loud) expect(share).toBeGreaterThanOrEqual(Number(Threshold))
  })

  it('cost nothing in an account that has no others: ten look at one metric each', () => {
    expect(alarms).toHaveLength(10)
    for (const alarm of alarms) expect(alarm['Metrics']).toBeUndefined()
  })

  it('of a table that turns requests away count those that an index has no room for', () => {
    const [throttled] = alarms.filter(({ AlarmDescription }) => /DynamoDB turns/.test(String(AlarmDescription)))
    expect(throttled).toMatchObject({
      MetricName: 'ThrottledRequests',
      Dimensions: expect.arrayContaining([{ Name: 'Operation', Value: 'UpdateItem' }]),
    })
  })

  it('and the overview look at the API by its own name, which no other stack has', () => {
    const [api] = Object.values(resourcesOf(template, 'AWS::ApiGateway::RestApi'))
    const name = api?.Properties['Name']
    const ofApi = alarms.filter(({ Namespace }) => Namespace === 'AWS/ApiGateway')
    expect(ofApi.map(({ Dimensions }) => Dimensions)).toEqual([[{ Name: 'ApiName', Value: name }]])
    const lines = widgets(all.controlPlane.dashboard).flatMap(({ properties }) => properties.metrics ?? [])
    const shown = lines.filter(([namespace]) => namespace === 'AWS/ApiGateway')
    expect(shown.length).toBeGreaterThan(0)
    for (const line of shown) expect(line).toEqual(expect.arrayContaining(['ApiName', name]))
  })

  it('are left out if nobody wants them', () => {
    const quiet = deployed({ alarms: false }).template()
    expect(resourcesOf(quiet, 'AWS::CloudWatch::Alarm')).toEqual({})
  })
})
