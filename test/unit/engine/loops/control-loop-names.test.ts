import { expect, it } from 'vitest'
import { createPrometheusTelemetry } from '../../../../shared/adapters/local/prometheus-telemetry.ts'
import { controlLoopNames, createControlLoops } from '../../../../shared/engine/loops/control-loops.ts'
import { createVirtualClock } from '../../../../shared/testing/virtual-clock.ts'
import { reconcilers } from '../../../infra/fixtures/reconcilers.ts'

it('the names of control loops are those of the loops', () => {
  const clock = createVirtualClock()
  const options = { controllers: reconcilers, clock, telemetry: createPrometheusTelemetry() } as never
  expect(controlLoopNames(options)).toEqual(createControlLoops(options).map(({ name }) => name))
})
