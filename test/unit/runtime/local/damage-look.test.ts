import { describe, expect, it } from 'vitest'
import { createDamageLook } from '../../../../shared/runtime/local/damage-look.ts'
import { OperatingError } from '../../../../shared/model/errors.ts'
import { keyText } from '../../../../shared/model/object-key.ts'
import type { JsonObject } from '../../../../shared/model/json.ts'
import type { Logger } from '../../../../shared/ports/logger.ts'
import type { KindName } from '../../../../shared/ports/object-index.ts'
import type { ListPage, ListQuery } from '../../../../shared/ports/object-store.ts'
import { storedWidget, widgetKind } from '../../../support/stored-object.ts'
import { createVirtualClock } from '../../../support/virtual-clock.ts'

const key = (name: string) => ({ ...widgetKind, namespace: 'default', name })
const page = (name: string, more: Partial<ListPage> = {}): ListPage => ({
  items: [storedWidget(name)],
  resourceVersion: '1',
  more: true,
  ...more,
})

function open(pages: readonly (ListPage | (() => never))[], kinds: readonly KindName[] = [widgetKind]) {
  const left = [...pages]
  const asked: ListQuery[] = []
  const said: JsonObject[] = []
  const clock = createVirtualClock()
  const list = async (query: ListQuery): Promise<ListPage> => {
    asked.push(query)
    const next = left.shift()
    if (next === undefined) throw new Error('nobody has to ask')
    return typeof next === 'function' ? next() : next
  }
  const error = (message: string, fields?: JsonObject): void => void said.push({ message, ...fields })
  const look = createDamageLook({ store: { list }, kinds: () => kinds, clock, logger: { error } as unknown as Logger })
  return { look, asked, said, clock }
}

describe('a look at all objects', () => {
  it('reads each kind page by page, with a pause between two, and tells what is damaged', async () => {
    const other = { group: '', kind: 'Other' }
    const pages = [
      page('a', { damaged: [key('b')] }),
      page('c', { damaged: [key('b')], more: false }),
      page('d', { more: false }),
    ]
    const { look, asked, said, clock } = open(pages, [widgetKind, other])
    const ended = look.run(new AbortController().signal)
    await expect.poll(() => asked.length).toBe(1)
    expect(look.isDone()).toBe(false)
    await clock.advance(20)
    await ended
    expect(asked).toEqual([
      { ...widgetKind, limit: 50 },
      { ...widgetKind, limit: 50, after: { namespace: 'default', name: 'a' } },
      { ...other, limit: 50 },
    ])
    expect(look.isDone()).toBe(true)
    expect(said).toEqual([
      { message: 'objects are damaged and cannot be read', count: 1, objects: [keyText(key('b'))] },
    ])
  })

  it('says nothing where nothing is damaged, or nothing is there', async () => {
    for (const pages of [[page('a', { more: false })], [page('a', { items: [], more: false })]]) {
      const { look, said } = open(pages)
      await look.run(new AbortController().signal)
      expect([look.isDone(), said]).toEqual([true, []])
    }
  })

  it('ends when the process stops, and where the store cannot be read', async () => {
    const stopped = open([page('a')])
    const end = new AbortController()
    const ended = stopped.look.run(end.signal)
    await expect.poll(() => stopped.asked.length).toBe(1)
    end.abort()
    await ended
    expect([stopped.look.isDone(), stopped.said]).toEqual([false, []])

    const broken = open([
      () => {
        throw new OperatingError('UNAVAILABLE', 'a.db is closed')
      },
    ])
    await broken.look.run(new AbortController().signal)
    expect(broken.look.isDone()).toBe(false)
    expect(broken.said).toEqual([
      { message: 'not every object could be looked at', error: expect.stringContaining('a.db is closed') },
    ])
  })
})
