import { expect, it } from 'vitest'
import { checkSize } from '../../../shared/model/size-limit.ts'
import type { Touched } from '../../../shared/model/stored-object.ts'
import { storedWidget } from '../../support/stored-object.ts'

it.each<[Touched, number]>([
  [['spec'], 350],
  [['status', 'engine'], 350],
  [['engine'], 390],
  [['timer'], 390],
  [['engine', 'timer'], 390],
])('a write of %j takes %d KiB at most', (touched, most) => {
  const { object } = storedWidget('w')
  const bytes = most * 1_024
  expect(() => checkSize(object, bytes, touched)).not.toThrow()
  const message = `Widget w would take ${bytes + 1} bytes, the limit is ${bytes}`
  expect(() => checkSize(object, bytes + 1, touched)).toThrow(expect.objectContaining({ code: 'TOO_LARGE', message }))
})

it('the record of a removed object takes more than the object did', () => {
  const object = { ...storedWidget('w').object, apiVersion: 'removed.test.setpoint.dev/v1' }
  expect(() => checkSize(object, 390 * 1_024, ['spec'])).not.toThrow()
  expect(() => checkSize(object, 390 * 1_024 + 1, ['meta'])).toThrow(expect.objectContaining({ code: 'TOO_LARGE' }))
})
