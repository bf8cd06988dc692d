import { afterAll, expect, it } from 'vitest'
import { messageOf } from '../../../../shared/adapters/aws/sqs/sqs-message.ts'
import { installBasics } from '../../../../shared/engine/loops/install-basics.ts'
import { done } from '../../../../shared/index.ts'
import { createSeeing } from '../../../../shared/runtime/aws/boundary.ts'
import { openEngineServices } from '../../../../shared/runtime/aws/open.ts'
import { createReconcile } from '../../../../shared/runtime/aws/reconcile.ts'
import { bufferOf, startDynalite, type Transport } from '../../../../shared/testing-aws/dynalite.ts'
import { Widget, widgets } from '../../../acceptance/support/widgets.ts'
import { awsBoundary, widgetQueues } from '../../../support/aws-boundary.ts'
import { createVirtualClock } from '../../../support/virtual-clock.ts'

const dynalite = await startDynalite('late-start')
afterAll(dynalite.close)

it('a run is told that its time is over though it took long to learn which queue its message belongs into', async () => {
  const clock = createVirtualClock()
  const slowly: Transport = {
    handle: async (request) => {
      if (bufferOf(request.body).includes('checkpoint#queues')) clock.moveTo(clock.nowMs() + 12_000)
      return dynalite.transport.handle(request)
    },
  }
  const environment = { SETPOINT_TABLE: 'late-start', SETPOINT_QUEUES: widgetQueues }
  const boundary = awsBoundary(slowly, { environment, clock })
  const controller = widgets(
    [],
    async (_, ctx) => {
      await ctx.sleep('50s')
      return done()
    },
    { timeout: '60s' },
  )
  const options = { boundary, seeing: createSeeing(boundary), controllers: [controller] }
  const services = openEngineServices(options)
  await installBasics(services)
  const kind = await services.catalog.byKind(Widget.group, Widget.kind)
  if (kind === undefined) throw new Error('no kind')
  await services.resources.create(
    kind,
    { metadata: { name: 'w', namespace: 'default' }, spec: {} },
    { manager: 'test' },
  )
  const key = { group: Widget.group, kind: Widget.kind, namespace: 'default', name: 'w' }
  const { MessageBody: body } = messageOf('widget', { key, origin: 'change', dedupId: 'w', lane: 'urgent', reason: '' })
  const record = {
    body,
    receiptHandle: 'h',
    messageId: 'm',
    attributes: { ApproximateReceiveCount: '1' },
    eventSourceARN: 'arn:aws:sqs:us-east-1:1:a',
  }

  const beganMs = clock.nowMs()
  let answeredMs = 0
  const answer = createReconcile(options)({ Records: [record as never] }, 40_000).finally(() => {
    answeredMs = clock.nowMs()
  })
  const passing = async (): Promise<number> => {
    await clock.advance(500)
    return answeredMs
  }
  await expect.poll(passing, { interval: 5, timeout: 60_000 }).toBeGreaterThan(0)
  await answer
  const tookMs = answeredMs - beganMs
  expect(tookMs).toBeGreaterThan(30_000)
  expect(tookMs).toBeLessThanOrEqual(40_000)
})
