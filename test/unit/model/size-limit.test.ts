import { describe, expect, it } from 'vitest'
import { checkMemory, checkStateSize, checkSize } from '../../../shared/model/size-limit.ts'
import type { ApiObject } from '../../../shared/model/object.ts'
import type { Touched } from '../../../shared/model/stored-object.ts'
import { storedWidget } from '../../support/stored-object.ts'

const widget = storedWidget('w').object
const going = storedWidget('w', { deletionTimestamp: '2026-01-01T00:00:00Z' }).object
const record = { ...widget, apiVersion: 'removed.test.setpoint.dev/v1' }
const kib = 1_024

describe('the size of an object', () => {
  it.each<[string, ApiObject, Touched, number]>([
    ['with its spec', widget, ['spec'], 350],
    ['with its status', widget, ['status', 'engine'], 350],
    ['by the engine', widget, ['engine'], 390],
    ['with its timer', widget, ['timer'], 390],
    ['by the engine, with its timer', widget, ['engine', 'timer'], 390],
    ['that is deleted', going, ['delete'], 394],
    ['that is being deleted', going, ['meta'], 394],
    ['that keeps removed ones', record, ['spec'], 390],
  ])('%s is limited', (_what, object, touched, most) => {
    const bytes = most * kib
    expect(() => checkSize(object, { object: bytes, engine: 0 }, touched)).not.toThrow()
    const message = `Widget w would take ${bytes + 1} bytes, the limit is ${bytes}`
    expect(() => checkSize(object, { object: bytes + 1, engine: 0 }, touched)).toThrow(
      expect.objectContaining({ code: 'TOO_LARGE', message }),
    )
  })

  it('is its own, whatever the engine remembers of it, up to what there is room for', () => {
    const object = 340 * kib
    expect(() => checkSize(widget, { object, engine: 50 * kib }, ['spec'])).not.toThrow()
    expect(() => checkSize(widget, { object, engine: 50 * kib + 1 }, ['spec'])).toThrow(/would take 399361 bytes/)
  })
})

describe('the size of a state that no store measures', () => {
  it('is measured in bytes of what the write would store', () => {
    const withNote = (bytes: number): ApiObject => ({ ...widget, spec: { note: '€'.repeat(Math.floor(bytes / 3)) } })
    const frame = Buffer.byteLength(JSON.stringify(withNote(0)))
    const most = 350 * kib
    const engine = { memory: { notes: { n: 'x'.repeat(10 * kib) } } }
    expect(() => checkStateSize({ object: withNote(most - frame), engine }, ['spec'])).not.toThrow()
    expect(() => checkStateSize({ object: withNote(most - frame + 3), engine }, ['spec'])).toThrow(
      expect.objectContaining({
        code: 'TOO_LARGE',
        message: expect.stringMatching(/^Widget w would take 35840\d bytes/),
      }),
    )
    expect(() => checkStateSize({ object: withNote(most - frame + 3), engine }, ['engine'])).not.toThrow()
    expect(() => checkStateSize({ object: withNote(380 * kib), engine }, ['engine'])).toThrow(/the limit is 399360/)
  })
})

describe('what runs remember with an object', () => {
  it.each([
    ['in ASCII', 'x', 1],
    ['in characters of three bytes', '€', 3],
  ])('leaves 4 KiB to say why it waits: %s', (_what, character, bytes) => {
    const most = 386 * kib
    const frame = JSON.stringify(widget).length + JSON.stringify({ memory: { notes: { n: '' } } }).length
    const engineOf = (free: number) => ({ memory: { notes: { n: character.repeat(Math.floor(free / bytes)) } } })
    expect(() => checkMemory(widget, engineOf(most - frame))).not.toThrow()
    expect(() => checkMemory(widget, engineOf(most - frame + bytes))).toThrow(
      expect.objectContaining({ code: 'TOO_LARGE', message: expect.stringContaining(`the limit is ${most}`) }),
    )
  })

  it('may take more while it is being deleted: what was kept before stands in no way', () => {
    const engineOf = (bytes: number) => ({ memory: { notes: { n: 'x'.repeat(bytes) } } })
    expect(() => checkMemory(going, engineOf(392 * kib))).not.toThrow()
    expect(() => checkMemory(going, engineOf(393 * kib))).toThrow(`the limit is ${393 * kib}`)
  })
})
