import { expect, it } from 'vitest'
import { ConfigMap, defineReconciler, done } from '../../../shared/index.ts'
import { areTimeoutsOff, withoutTimeouts } from '../../../shared/runtime/local/run-timeouts.ts'

const inspected = 'ws://127.0.0.1:9229/x'

it.each([
  [undefined, undefined, false],
  [undefined, inspected, true],
  ['', inspected, true],
  ['on', inspected, false],
  ['off', undefined, true],
])('with the setting %j and the debugger at %j, timeouts are off: %j', (setting, debuggerUrl, off) => {
  expect(areTimeoutsOff(setting, debuggerUrl)).toBe(off)
})

it('refuses another setting, by its name', () => {
  const message = 'SETPOINT_RUN_TIMEOUTS: "none" is not known; give on or off'
  expect(() => areTimeoutsOff('none')).toThrow(expect.objectContaining({ code: 'BAD_REQUEST', message }))
})

it('gives runs a day, which timers can be set for six times over', () => {
  const [controller] = withoutTimeouts([defineReconciler(ConfigMap, { timeout: '5s', reconcile: async () => done() })])
  expect(controller).toMatchObject({ name: 'configmap', timeoutMs: 86_400_000 })
  expect(6 * (controller?.timeoutMs ?? 0)).toBeLessThan(2 ** 31)
})
