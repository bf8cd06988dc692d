import { EventEmitter } from 'node:events'
import { expect, it } from 'vitest'
import { createLogOutput } from '../../../../shared/runtime/local/log-output.ts'

it('begins a line of its own after one that a full disk may have cut short', () => {
  const written: string[] = []
  const output = Object.assign(new EventEmitter(), { write: (text: string) => written.push(text) > 0 })
  const write = createLogOutput(output as never)
  write('one\n')
  output.emit('error', new Error('ENOSPC'))
  write('two\n')
  write('three\n')
  expect(written).toEqual(['one\n', '\ntwo\n', 'three\n'])
})
