import { describe, expect, it } from 'vitest'
import { faultsIn, type RunLogLine } from './run-log.ts'

/** Lines in short: process, phase (r or c), edge (< or >), a generation, and ! for a cleanup that is done. */
function log(text: string): readonly RunLogLine[] {
  return text.split(' ').map((short) => {
    const [, pid, phase, edge, generation, isDone] = /^(\d)([rc])([<>])(\d)(!?)$/.exec(short) ?? []
    return {
      name: 'item',
      uid: 'uid',
      pid: Number(pid),
      phase: phase === 'r' ? 'reconcile' : 'cleanup',
      edge: edge === '<' ? 'start' : 'end',
      generation: Number(generation),
      ...(isDone === '!' ? { isDone: true } : {}),
    }
  })
}

describe('the log of runs', () => {
  it.each([
    { lines: '1r<1 1r>1 1r<2 1r>2 1c<3 1c>3 1c<3 1c>3!', because: 'one run followed the other' },
    { lines: '1r<1 2r<1 2r>1', because: 'the first process was killed in its run' },
    { lines: '1c<2 1c>2! 2c<2 2c>2!', because: 'the first process was killed before it could say that it was done' },
  ])('has no fault where $because', ({ lines }) => {
    expect(faultsIn(log(lines))).toEqual([])
  })

  it.each([
    { lines: '1r<1 1r<2 1r>1 1r>2', fault: /two runs at once in process 1/ },
    { lines: '1r<1 2r<1 1r>1 2r>1', fault: /a run of process 1 ended while one of 2 was running/ },
    { lines: '1r<2 1r>2 1r<1 1r>1', fault: /a run of generation 1 after one of 2/ },
    { lines: '1c<2 1c>2 1r<2 1r>2', fault: /reconciled after cleanup had begun/ },
    { lines: '1c<2 1c>2! 1c<2 1c>2!', fault: /cleaned up again/ },
  ])('$lines tells $fault', ({ lines, fault }) => {
    expect(faultsIn(log(lines)).join('\n')).toMatch(fault)
  })
})
