import { describe, expect, it } from 'vitest'
import { acceptedRanges } from '../../../shared/api/media-ranges.ts'
import { bareRequest, request } from './sent-request.ts'

const rangesOf = (accept: string) => acceptedRanges(request('GET /x', { accept }))

describe('the ranges of an Accept header', () => {
  it.each([
    ['', ['']],
    ['a/b', ['a/b']],
    [' A/B ', ['a/b']],
    ['*', ['*/*']],
    ['a/b, c/d', ['a/b', 'c/d']],
    ['a/b;q=0.1, c/d;q=0.2', ['c/d', 'a/b']],
    ['a/b;q=0.1, c/d', ['c/d', 'a/b']],
    ['a/b, c/d;q=0.9', ['a/b', 'c/d']],
    ['a/b;q=2, c/d', ['a/b', 'c/d']],
    ['a/b;q=x, c/d;q=0.1', ['c/d', 'a/b']],
    ['*/*, a/b', ['a/b', '*/*']],
    ['*, a/b', ['a/b', '*/*']],
    ['a/*, a/b', ['a/b', 'a/*']],
    ['*/*, a/*, a/b', ['a/b', 'a/*', '*/*']],
    ['a/b, */*, c/d', ['a/b', 'c/d', '*/*']],
    ['*/*;q=0.9, a/b;q=0.9, c/d', ['c/d', 'a/b', '*/*']],
  ])('%j are, the most wanted first, %j', (accept, types) => {
    expect(rangesOf(accept).map(({ type }) => type)).toEqual(types)
  })

  it('are none where there is no header', () => {
    expect(acceptedRanges(bareRequest('GET /x')).map(({ type }) => type)).toEqual([''])
  })

  it('have parameters, and a weight apart from them', () => {
    expect(rangesOf('a/b; as = Table ;v=v1;q=0.5; q.x=1;flag')).toEqual([
      { type: 'a/b', parameters: { as: 'Table', v: 'v1', 'q.x': '1', flag: undefined }, weight: 0.5 },
    ])
    expect(rangesOf('a/b;q=0;x=1=2')).toEqual([{ type: 'a/b', parameters: { x: '1' }, weight: 0 }])
    expect(rangesOf('a/b')).toEqual([{ type: 'a/b', parameters: {}, weight: 1 }])
    expect(rangesOf('a/b;q=x')).toEqual([{ type: 'a/b', parameters: {}, weight: 0 }])
  })
})
