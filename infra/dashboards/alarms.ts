import { Duration, Stack } from 'aws-cdk-lib'
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch'
import * as actions from 'aws-cdk-lib/aws-cloudwatch-actions'
import * as iam from 'aws-cdk-lib/aws-iam'
import type * as lambda from 'aws-cdk-lib/aws-lambda'
import * as sns from 'aws-cdk-lib/aws-sns'
import type * as sqs from 'aws-cdk-lib/aws-sqs'
import type { Construct } from 'constructs'
import { oneMinute } from './metrics.ts'
import type { ShownPlane } from './overview.ts'

/** One thing that somebody has to look at. */
export interface Watch {
  /** The construct's id. */
  readonly id: string
  /** What is wrong, and what to do first. */
  readonly description: string
  readonly metric: cloudwatch.IMetric
  /** The first value that is too much. */
  readonly threshold: number
  /** How many periods of the metric. */
  readonly periods: number
  /** Of how many in a row; left out, of as many. */
  readonly within?: number
  /** Where it is not, that is wrong, too. */
  readonly isAlwaysThere?: true
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
  const { id, description, metric, threshold, periods, within = periods, isAlwaysThere = false } = watch
  const { BREACHING, NOT_BREACHING } = cloudwatch.TreatMissingData
  const alarm = new cloudwatch.Alarm(scope, id, {
    alarmDescription: description,
    metric,
    threshold,
    evaluationPeriods: within,
    ...(within > periods && { datapointsToAlarm: periods }),
    // A metric that is 0 is not written.
    treatMissingData: isAlwaysThere ? BREACHING : NOT_BREACHING,
  })
  alarm.addAlarmAction(new actions.SnsAction(topic))
  alarm.addOkAction(new actions.SnsAction(topic))
  return alarm
}

export interface WatchedPlane extends Pick<ShownPlane, 'metrics' | 'restApi' | 'table' | 'relay' | 'deadLetterQueue'> {
  readonly resync: lambda.Function
  /** How many of them there are each minute. */
  readonly ticksAtOnce: number
  readonly relayFailures: sqs.IQueue
}

/**
 * What can go wrong. Each alarm is about all controllers together, and looks at one metric where that will do: an alarm
 * costs by the metrics it looks at. Which controller it is, the dashboards and the commands in the texts say.
 */
export function planeWatches(plane: WatchedPlane): readonly Watch[] {
  return [...ofObjects(plane), ...ofParts(plane)]
}

const look = 'The dashboards say of which controller, and "kubectl get <kind> -A -o wide" says why it waits'

function ofObjects({ metrics, deadLetterQueue }: WatchedPlane): readonly Watch[] {
  return [
    {
      id: 'Unconverged',
      description: `An object has not been as it is wanted for 15 minutes or more. ${look}.`,
      // It is told when an object is run: between two tries there are 1000 s at most. Of objects that nobody runs the
      // tick tells it (shared/runtime/aws/unmet-changes.ts).
      metric: metrics.ofPlane('setpoint_oldest_unconverged_seconds', {
        statistic: 'Maximum',
        period: Duration.minutes(20),
      }),
      threshold: 900,
      periods: 1,
    },
    {
      id: 'Stopped',
      description: `Runs stopped: until somebody changes something, only the resync tries again. ${look}.`,
      metric: metrics.ofPlane('controller_runtime_terminal_reconcile_errors_total', { period: Duration.minutes(5) }),
      threshold: 1,
      periods: 1,
    },
    {
      id: 'Repairs',
      description:
        'A resync found changes that no wake-up had told of. They are put right; that they were lost is a bug or an outage.',
      metric: metrics.ofPlane('setpoint_repairs_total', { period: Duration.minutes(5) }),
      threshold: 1,
      periods: 1,
    },
    {
      id: 'GivenUp',
      description:
        'Wake-ups were handed out ten times and no turn came to its end: a function crashes, or runs out of time, memory or concurrency. Their objects are Stalled and are tried again every quarter of an hour.',
      metric: deadLetterQueue.metric('NumberOfMessagesReceived', { statistic: 'Sum', period: Duration.minutes(5) }),
      threshold: 1,
      periods: 1,
    },
  ]
}

/** A little less than each: of several that tick at once, one that always fails counts as all of them would. */
const allTicks = 0.9

function ofParts({ restApi, table, relay, resync, ticksAtOnce, relayFailures }: WatchedPlane): readonly Watch[] {
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
      metric: relay.metric('IteratorAge', { statistic: 'Maximum', period: oneMinute }),
      threshold: 60_000,
      periods: 3,
      // It is told at the begin of an invocation, which may take a minute.
      within: 5,
    },
    {
      id: 'RelayGaveUp',
      description:
        'A change could not be passed on; what it is stands in the queue of relay failures. What finds its object again, and what is lost, is in docs/aws.md, "Dead letters and lost records".',
      metric: relayFailures.metricApproximateNumberOfMessagesVisible({ period: Duration.minutes(5) }),
      threshold: 1,
      periods: 1,
    },
    {
      id: 'NoTick',
      description:
        'Timers and resyncs wait: for five minutes no tick has come to its end, or a part of each has failed. See the log of the function resync.',
      // An invocation counts as no error or as one. One tick that fails is made up for by the next one.
      metric: resync.metricErrors({ statistic: 'Average', period: Duration.minutes(5) }),
      threshold: allTicks / ticksAtOnce,
      periods: 1,
      isAlwaysThere: true,
    },
    {
      id: 'FunctionsThrottled',
      description: 'Lambda has no concurrency left in this account and Region: ask for a higher quota.',
      // Of all functions there: the quota is that of all of them.
      metric: new cloudwatch.Metric({
        namespace: 'AWS/Lambda',
        metricName: 'Throttles',
        statistic: 'Sum',
        period: Duration.minutes(5),
      }),
      threshold: 10,
      periods: 2,
    },
    {
      id: 'TableThrottled',
      description:
        'DynamoDB turns requests of the control plane away: one partition is hot, or a table quota is reached.',
      // Counted by request, in which an index that has no room counts, too: those saturate first. Every change of an
      // object is an update.
      metric: table.metric('ThrottledRequests', {
        dimensionsMap: { TableName: table.tableName, Operation: 'UpdateItem' },
        statistic: 'Sum',
        period: Duration.minutes(5),
      }),
      threshold: 100,
      periods: 2,
    },
  ]
}
