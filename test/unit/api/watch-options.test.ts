import { describe, expect, it } from 'vitest'
import { watchOptions } from '../../../shared/api/watch/options.ts'
import { endOf } from './end-of.ts'
import { request } from './sent-request.ts'

const optionsOf = (query: string) => endOf(() => watchOptions(request(`GET /x?watch=1&${query}`)))
const plain = {
  after: undefined,
  notOlderThan: undefined,
  tellsInitial: true,
  marksInitialEnd: false,
  bookmarks: false,
  timeoutMs: undefined,
}
const match = 'resourceVersionMatch=NotOlderThan'

describe('a watch', () => {
  it.each<[string, object]>([
    ['', {}],
    ['resourceVersion=0', {}],
    ['resourceVersion=7', { after: '7', notOlderThan: '7', tellsInitial: false }],
    ['allowWatchBookmarks=true', { bookmarks: true }],
    ['allowWatchBookmarks=false', {}],
    ['timeoutSeconds=0', {}],
    ['timeoutSeconds=1', { timeoutMs: 1_000 }],
    ['timeoutSeconds=30', { timeoutMs: 30_000 }],
    [`sendInitialEvents=true&${match}`, {}],
    [`sendInitialEvents=true&${match}&resourceVersion=7`, { notOlderThan: '7' }],
    [`sendInitialEvents=true&${match}&allowWatchBookmarks=1`, { bookmarks: true, marksInitialEnd: true }],
    [`sendInitialEvents=false&${match}`, { tellsInitial: false }],
    [`sendInitialEvents=false&${match}&allowWatchBookmarks=1`, { tellsInitial: false, bookmarks: true }],
    [`sendInitialEvents=false&${match}&resourceVersion=7`, { tellsInitial: false, after: '7', notOlderThan: '7' }],
  ])('asked for by %j', (query, options) => {
    expect(optionsOf(query)).toStrictEqual({ ...plain, ...options })
  })

  it.each([
    ['sendInitialEvents=true', /^INVALID: ListOptions/],
    ['resourceVersion=x', /^BAD_REQUEST: invalid resource version/],
    ['timeoutSeconds=-1', /^BAD_REQUEST: .* timeoutSeconds=-1: it must be an integer from 0/],
  ])('asked for by %j is refused', (query, why) => {
    expect(optionsOf(query)).toMatch(why)
  })
})
