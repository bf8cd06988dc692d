import { Duration, Stack } from 'aws-cdk-lib'
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch'
import * as actions from 'aws-cdk-lib/aws-cloudwatch-actions'
import * as iam from 'aws-cdk-lib/aws-iam'
import type * as lambda from 'aws-cdk-lib/aws-lambda'
import * as sns from 'aws-cdk-lib/aws-sns'
import type * as sqs from 'aws-cdk-lib/aws-sqs'
import type { Construct } from 'constructs'
import { type ControlMetrics, oneMinute } from './metrics.ts'
import type { ShownController } from './controller-page.ts'
import type { ShownPlane, ShownQueue } from './overview.ts'

/** One thing that somebody has to look at. */
export interface Watch {
  /** The construct's id. */
  readonly id: string
  /** What is wrong, and what to do first. */
  readonly description: string
  readonly metric: cloudwatch.IMetric
  /** The first value that is too much; for `below`, the last that is too little. */
  readonly threshold: number
  /** How many periods of the metric in a row. */
  readonly periods: number
  readonly below?: true
}

/**
 * Where alarms are told. A topic with a policy of its own has not the default one, by which every alarm of the account
 * may publish.
 */
export function alarmTopic(scope: Construct, id: string): sns.Topic {
  const topic = new sns.Topic(scope, id, { enforceSSL: true })
  topic.addToResourcePolicy(
    new iam.PolicyStatement({
      principals: [new iam.ServicePrincipal('cloudwatch.amazonaws.com')],
      actions: ['sns:Publish'],
      resources: [topic.topicArn],
      conditions: { StringEquals: { 'aws:SourceAccount': Stack.of(scope).account } },
    }),
  )
  return topic
}

/** An alarm for each, told to the topic when it begins and when it is over. */
export function createAlarms(
  scope: Construct,
  topic: sns.ITopic,
  watches: readonly Watch[],
): readonly cloudwatch.Alarm[] {
  return watches.map((watch) => createAlarm(scope, topic, watch))
}

function createAlarm(scope: Construct, topic: sns.ITopic, watch: Watch): cloudwatch.Alarm {
  const { id, description, metric, threshold, periods, below = false } = watch
  const { ComparisonOperator, TreatMissingData } = cloudwatch
  const alarm = new cloudwatch.Alarm(scope, id, {
    alarmDescription: description,
    metric,
    threshold,
    evaluationPeriods: periods,
    comparisonOperator: below
      ? ComparisonOperator.LESS_THAN_OR_EQUAL_TO_THRESHOLD
      : ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
    // A metric that is 0 is not written.
    treatMissingData: below ? TreatMissingData.BREACHING : TreatMissingData.NOT_BREACHING,
  })
  alarm.addAlarmAction(new actions.SnsAction(topic))
  alarm.addOkAction(new actions.SnsAction(topic))
  return alarm
}

export interface WatchedPlane extends Pick<ShownPlane, 'restApi' | 'table'> {
  readonly functions: Readonly<Record<string, lambda.Function>> & Readonly<Record<'relay' | 'resync', lambda.Function>>
  readonly system: ShownQueue
  readonly relayFailures: sqs.IQueue
}

/** What can go wrong with all of it. */
export function planeWatches({ restApi, table, functions, system, relayFailures }: WatchedPlane): readonly Watch[] {
  return [
    {
      id: 'ApiFails',
      description: 'The API answers with 5xx. See the log of the api function.',
      metric: restApi.metricServerError({ period: Duration.minutes(5) }),
      threshold: 5,
      periods: 1,
    },
    {
      id: 'RelayLate',
      description: 'Changes are passed on more than a minute late. See errors and throttles of the relay function.',
      metric: functions.relay.metric('IteratorAge', { statistic: 'Maximum', period: oneMinute }),
      threshold: 60_000,
      periods: 3,
    },
    {
      id: 'RelayGaveUp',
      description:
        'A change could not be passed on; what it is stands in the queue of relay failures. Its object is found by the next sweep for repairs.',
      metric: relayFailures.metricApproximateNumberOfMessagesVisible({ period: Duration.minutes(5) }),
      threshold: 1,
      periods: 1,
    },
    {
      id: 'NoTick',
      description: 'Nobody looks for due timers: the function resync has not run for five minutes.',
      metric: functions.resync.metricInvocations({ period: Duration.minutes(5) }),
      threshold: 0,
      periods: 1,
      below: true,
    },
    {
      id: 'FunctionsFail',
      description: 'Functions of the control plane end with errors. See "Invocations that failed" on the dashboard.',
      metric: sumOf(withoutAuthorizer(functions), (one) => one.metricErrors({ period: Duration.minutes(5) })),
      threshold: 5,
      periods: 2,
    },
    {
      id: 'FunctionsThrottled',
      description: 'Lambda has no concurrency left for the control plane: ask for a higher quota, or reserve some.',
      metric: sumOf(functions, (one) => one.metricThrottles({ period: Duration.minutes(5) })),
      threshold: 10,
      periods: 2,
    },
    {
      id: 'TableThrottled',
      description:
        'DynamoDB turns requests of the control plane away: one partition is hot, or a table quota is reached.',
      // Counted by request, in which an index that has no room counts, too: those saturate first.
      metric: sumOf({ get: 'GetItem', put: 'PutItem', query: 'Query', update: 'UpdateItem' }, (operation) =>
        table.metric('ThrottledRequests', {
          dimensionsMap: { TableName: table.tableName, Operation: operation },
          statistic: 'Sum',
          period: Duration.minutes(5),
        }),
      ),
      threshold: 100,
      periods: 2,
    },
    ...queueWatches('System', "the control plane's own loops", system),
  ]
}

/**
 * It refuses a token by an error, so that whoever is outside could raise the alarm. What else it fails with is a 503 of
 * the API.
 */
function withoutAuthorizer({ authorizer: _, ...functions }: WatchedPlane['functions']): WatchedPlane['functions'] {
  return functions
}

/** What can go wrong with one controller. */
export function controllerWatches({
  name,
  kind,
  metrics,
  function: worker,
  ...queues
}: ShownController): readonly Watch[] {
  const look = `kubectl get ${kind.toLowerCase()} -A -o wide`
  const ofController = (metric: Parameters<ControlMetrics['ofController']>[1], statistic: string) =>
    metrics.ofController(name, metric, { statistic, period: Duration.minutes(5) })
  return [
    {
      id: 'Unconverged',
      description: `An object of ${name} has not been as it is wanted for 15 minutes or more. "${look}" says why it waits.`,
      // It is told when an object is run: between two tries there are 1000 s at most.
      metric: metrics.ofController(name, 'setpoint_oldest_unconverged_seconds', {
        statistic: 'Maximum',
        period: Duration.minutes(20),
      }),
      threshold: 900,
      periods: 1,
    },
    {
      id: 'Stopped',
      description: `Runs of ${name} stopped: nothing is tried again until somebody changes something. "${look}" says which, and why.`,
      metric: ofController('controller_runtime_terminal_reconcile_errors_total', 'Sum'),
      threshold: 1,
      periods: 1,
    },
    {
      id: 'Repairs',
      description: `A resync of ${name} found changes that no wake-up had told of. They are put right; that they were lost is a bug or an outage.`,
      metric: ofController('setpoint_repairs_total', 'Sum'),
      threshold: 1,
      periods: 1,
    },
    {
      id: 'Fails',
      description: `The function of ${name} crashes or runs out of time or memory. Its log says where.`,
      metric: worker.metricErrors({ period: Duration.minutes(5) }),
      threshold: 5,
      periods: 2,
    },
    ...queueWatches('', name, queues),
  ]
}

function queueWatches(prefix: string, whose: string, { queue, deadLetterQueue }: ShownQueue): readonly Watch[] {
  return [
    {
      id: `${prefix}QueueLate`,
      description: `The oldest wake-up of ${whose} has waited for 15 minutes or more.`,
      metric: queue.metricApproximateAgeOfOldestMessage({ period: Duration.minutes(5) }),
      threshold: 900,
      periods: 2,
    },
    {
      id: `${prefix}DeadLetters`,
      description: `Wake-ups of ${whose} were handed out ten times and no turn came to its end. Their objects are Stalled and are tried again every quarter of an hour.`,
      metric: deadLetterQueue.metric('NumberOfMessagesReceived', { statistic: 'Sum', period: Duration.minutes(5) }),
      threshold: 1,
      periods: 1,
    },
  ]
}

/** The values added up, as one metric. */
function sumOf<Item>(
  items: Readonly<Record<string, Item>>,
  metricOf: (item: Item) => cloudwatch.IMetric,
): cloudwatch.MathExpression {
  const usingMetrics = Object.fromEntries(Object.entries(items).map(([name, item]) => [name, metricOf(item)]))
  return new cloudwatch.MathExpression({
    expression: Object.keys(usingMetrics).join(' + '),
    usingMetrics,
    period: Duration.minutes(5),
  })
}
