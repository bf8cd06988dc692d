import { describe, expect, it } from 'vitest'
import { AuditNote } from '../../../shared/api/access/audit-line.ts'
import { annotating, createAuditTrail, notingChanges } from '../../../shared/api/access/audit-trail.ts'
import type { ApiObject } from '../../../shared/model/object.ts'
import type { AuditRecord } from '../../../shared/ports/audit.ts'
import { createVirtualClock } from '../../support/virtual-clock.ts'
import { plainKind } from './called.ts'
import { request } from './sent-request.ts'

const response = { status: 200, headers: { a: 'b' }, body: 'x' }
const noteOf = () => new AuditNote(request('GET /x'), 0, undefined)

describe('the record of requests', () => {
  function open(newAuditId?: () => string) {
    const records: AuditRecord[] = []
    const clock = createVirtualClock(1_000)
    const audit = {
      isRecorded: ({ method }: { readonly method: string }) => method !== 'GET',
      record: (one: AuditRecord) => void records.push(one),
    }
    const trail = createAuditTrail({ audit, clock, ...(newAuditId && { newAuditId }) })
    if (trail === undefined) return expect.fail('there is a record')
    return { records, clock, trail }
  }

  it('is of those requests that are wanted', () => {
    expect(createAuditTrail({ clock: createVirtualClock() })).toBeUndefined()
    const { trail } = open()
    expect(trail.begin(request('GET /x'))).toBeUndefined()
    expect(trail.begin(request('PUT /x'))).toMatchObject({ method: 'PUT', startMs: 1_000 })
  })

  it.each([
    ['id-1', 'id-1'],
    ['!#$&~[]^', '!#$&~[]^'],
    ['a'.repeat(64), 'a'.repeat(64)],
    ['a'.repeat(65), 'new'],
    ['', 'new'],
    ['a b', 'new'],
    ['a"b', 'new'],
    ['a\\b', 'new'],
    ['ü', 'new'],
    [undefined, 'new'],
  ])('calls a request that calls itself %j %j', (asked, id) => {
    const { trail } = open(() => 'new')
    const headers = asked === undefined ? {} : { 'audit-id': asked }
    expect(trail.begin(request('PUT /x', { headers }))?.id).toBe(id)
  })

  it('ends with the answer, which tells how it is called', async () => {
    const { trail, clock, records } = open(() => 'new')
    const note = trail.begin(request('PUT /x')) as AuditNote
    await clock.advance(7)
    expect(trail.end(note, response)).toEqual({ ...response, headers: { a: 'b', 'audit-id': 'new' } })
    expect([note.latencyMs, note.code, records]).toEqual([7, 200, [note]])
  })

  it('leaves the answer alone if nobody names requests', () => {
    const { trail, records } = open()
    const note = trail.begin(request('PUT /x')) as AuditNote
    expect(trail.end(note, response)).toBe(response)
    expect([note.id, records]).toEqual([undefined, [note]])
  })
})

describe('what a write changes', () => {
  const object = (name: string): ApiObject => ({ metadata: { name } }) as ApiObject

  it('is noted of what was there', () => {
    const note = noteOf()
    notingChanges(undefined, note)(object('a'), object('a'))
    expect(note).toMatchObject({ name: 'a', change: { live: object('a'), next: object('a') } })
  })

  it('is nothing of what is new, which has the name that the server has given it', () => {
    const note = noteOf()
    notingChanges(undefined, note)(object('a-x7'))
    expect([note.name, note.change]).toEqual(['a-x7', undefined])
    notingChanges(undefined, note)(object('b'))
    expect(note.name).toBe('a-x7')
  })

  it('is not noted of what is not permitted', () => {
    const note = noteOf()
    const refuse = () => expect.fail('no')
    expect(() => notingChanges(refuse, note)(object('a'), object('a'))).toThrow('no')
    expect([note.name, note.change]).toEqual(['', undefined])
  })
})

describe('what admission says', () => {
  it('is kept of fifty names, a thousand characters each, and the newest of each', () => {
    const note = noteOf()
    const annotate = annotating(plainKind, note)
    for (let i = 0; i < 60; i++) annotate?.(`a${i}`, 'x'.repeat(1_001))
    annotate?.('a0', 'new')
    expect(Object.keys(note.annotations ?? {})).toEqual(Array.from({ length: 50 }, (_, i) => `a${i}`))
    expect([note.annotations?.['a0'], note.annotations?.['a1']]).toEqual(['new', 'x'.repeat(1_000)])
  })

  it('is not kept of a confidential kind, nor where there is no record', () => {
    const none: AuditNote | undefined = undefined
    expect(annotating({ ...plainKind, isConfidential: true }, noteOf())).toBeUndefined()
    expect(annotating(plainKind, none)).toBeUndefined()
  })
})
