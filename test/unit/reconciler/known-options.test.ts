import { expect, it } from 'vitest'
import { refuseUnknownOptions } from '../../../shared/reconciler/known-options.ts'

function refuse(unknown: string, ...known: readonly string[]): () => void {
  return () => refuseUnknownOptions('x', { [unknown]: 1 }, Object.fromEntries(known.map((name) => [name, true])))
}

it('options that are known are not refused', () => {
  expect(refuse('resync', 'resync', 'watches')).not.toThrow()
})

it.each([
  ['another case', 'reSync', 'resync'],
  ['letters in front', 'xyresync', 'resync'],
  ['letters behind', 'resyncxy', 'resync'],
  ['letters missing in front', 'sync', 'resync'],
  ['letters missing behind', 'resy', 'resync'],
  ['other letters', 'rexxnc', 'resync'],
])('an option with %s may be a slip: %j', (_what, unknown, meant) => {
  expect(refuse(unknown, 'watches', meant, 'owns')).toThrow(
    `x: there is no option ${unknown}: ${meant} is probably meant`,
  )
})

it('the first of two options that are as near is probably meant', () => {
  expect(refuse('sixe', 'size', 'sine')).toThrow('size is probably meant')
})

it.each([
  ['too many letters in front', 'xyzwresync', 'resync'],
  ['too many letters behind', 'resyncxyzw', 'resync'],
  ['too many letters missing behind', 'abcd', 'abcdefg'],
  ['most of its letters missing', 'ab', 'abcdef'],
  ['too many other letters', 'rexxxc', 'resync'],
  ['no letters', '', 'resync'],
])('an option with %s is no slip: %j', (_what, unknown, known) => {
  expect(refuse(unknown, known, 'of')).toThrow(`x: there is no option ${unknown}: there are ${known}, of`)
})
