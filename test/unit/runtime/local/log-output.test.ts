import { EventEmitter } from 'node:events'
import { expect, it } from 'vitest'
import { systemClock } from '../../../../shared/adapters/node/system-clock.ts'
import { createLogOutput } from '../../../../shared/runtime/local/log-output.ts'

it('begins a line of its own after one that a full disk may have cut short', () => {
  const written: string[] = []
  const output = Object.assign(new EventEmitter(), {
    writableLength: 0,
    write: (text: string) => written.push(text) > 0,
  })
  const write = createLogOutput(output as never)
  write('one\n')
  output.emit('error', new Error('ENOSPC'))
  write('two\n')
  write('three\n')
  expect(written).toEqual(['one\n', '\ntwo\n', 'three\n'])
})

it('keeps 8 MiB at most for who does not read, and says how many lines are left out of what they read then', () => {
  const waiting: string[] = []
  const output = {
    on: () => output,
    get writableLength() {
      return waiting.reduce((sum, text) => sum + text.length, 0)
    },
    write: (text: string) => waiting.push(text),
  }
  const write = createLogOutput(output as never, { ...systemClock, nowMs: () => 0 })
  const told: unknown[] = []
  const readSome = (count: number): void => void told.push(...waiting.splice(0, count).map((text) => text.trim()))
  const writeFrom = (from: number, to: number): void => {
    for (let i = from; i < to; i++) write(`${String(i).padStart(1_048_575)}\n`)
  }
  writeFrom(0, 20)
  expect(output.writableLength).toBe(8_388_608)
  readSome(4)
  // Half of it waits still.
  writeFrom(20, 21)
  readSome(1)
  writeFrom(21, 23)
  readSome(9)
  const notice = {
    time: '1970-01-01T00:00:00.000Z',
    level: 'warn',
    message: 'lines were left out of the log: nobody read it',
    lines: 13,
  }
  expect(told).toEqual(['0', '1', '2', '3', '4', '5', '6', '7', JSON.stringify(notice), '21', '22'])
})
