import { expect, it } from 'vitest'
import { controlLoopNames, createControlLoops } from '../../../../shared/engine/loops/control-loops.ts'
import { reconcilers } from '../../../infra/fixtures/reconcilers.ts'

/** In the place of all that the loops would work with. */
const anything: object = new Proxy(() => anything, { get: () => anything, apply: () => anything })

it('the names of control loops are those of the loops', () => {
  const options = new Proxy({}, { get: (_, name) => (name === 'controllers' ? reconcilers : anything) }) as never
  expect(controlLoopNames(options)).toEqual(createControlLoops(options).map(({ name }) => name))
})
