import { afterEach, expect, it } from 'vitest'
import { ConfigMap, again, reference, type Outcome } from '../../shared/index.ts'
import { createTestEnv, type TestEnv } from '../../shared/testing/test-env.ts'
import { timesOf, Widget, widgets, type RunRecord, type WidgetObject, type WidgetStatus } from './support/widgets.ts'

let env: TestEnv
afterEach(() => env.close())

// On AWS a message is held six times. Then a message of the relay is the timer.
it.each([3, 7])(
  'a status that begins to refer to another object is followed by a run, though it is run %i in a row',
  async (nth) => {
    const runs: RunRecord[] = []
    const nameSeen = ({ status }: WidgetObject) => (status?.seen === undefined ? undefined : { name: status.seen })
    const run = (): Outcome<WidgetStatus> => (runs.length < nth ? again('2s') : again('50s', { status: { seen: 'c' } }))
    env = await createTestEnv({ reconcilers: [widgets(runs, run, { watches: [reference(ConfigMap, nameSeen)] })] })
    await env.advance('2m')
    await env.apply(Widget, { metadata: { name: 'w' }, spec: {} })
    await env.advance('90s')
    const times = timesOf(runs)
    expect((times[nth] ?? Infinity) - (times[nth - 1] ?? 0)).toBeLessThan(10_000)
  },
)
