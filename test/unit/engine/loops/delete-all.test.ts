import { describe, expect, it } from 'vitest'
import { deleteAll, deleteOne } from '../../../../shared/engine/loops/delete-all.ts'
import { OperatingError } from '../../../../shared/model/errors.ts'
import type { ApiObject } from '../../../../shared/model/object.ts'
import type { ServedKind } from '../../../../shared/model/served-kind.ts'
import type { Resources } from '../../../../shared/resources/resources.ts'
import { storedWidget } from '../../../support/stored-object.ts'

const kind = {} as ServedKind
const objectOf = (name: string, finalizers?: string[]): ApiObject =>
  storedWidget(name, finalizers && { finalizers }).object

/** Pages of objects, of which those with a finalizer stay. */
function resourcesOf(pages: readonly (readonly ApiObject[])[], damaged = 0) {
  const asked: object[] = []
  const deleted: object[] = []
  const resources = {
    list: async (_kind: ServedKind, how: { readonly continue?: string }) => {
      asked.push(how)
      const at = Number(how.continue ?? 0)
      return {
        items: (pages[at] ?? []).map((object) => ({ object, engine: {} })),
        ...(damaged > 0 && { damaged: Array.from({ length: damaged }, () => ({})) }),
        ...(at + 1 < pages.length && { continue: String(at + 1) }),
      }
    },
    delete: async (_kind: ServedKind, at: { readonly name: string }) => {
      deleted.push(at)
      if (at.name === 'gone') throw new OperatingError('NOT_FOUND', 'it is gone')
      const object = pages.flat().find(({ metadata }) => metadata.name === at.name)
      return { stored: { object, engine: {} }, gone: object?.metadata.finalizers === undefined }
    },
  } as unknown as Resources
  return { resources, asked, deleted }
}

describe('deleteAll', () => {
  it('asks for the deletion of every object, page by page, and says who holds what is left', async () => {
    const pages = [
      [objectOf('a'), objectOf('b', ['x/y', 'z/z'])],
      [objectOf('c', ['x/y']), objectOf('gone'), objectOf('d')],
    ]
    const { resources, asked, deleted } = resourcesOf(pages)
    expect(await deleteAll(resources, kind)).toEqual({
      count: 2,
      finalizers: new Map([
        ['x/y', 2],
        ['z/z', 1],
      ]),
    })
    expect(asked).toStrictEqual([{ limit: 500 }, { limit: 500, continue: '1' }])
    expect(deleted).toEqual(['a', 'b', 'c', 'gone', 'd'].map((name) => ({ name, namespace: 'default' })))
  })

  it('of a namespace asks for that, and counts what cannot be read', async () => {
    const { resources, asked } = resourcesOf([[objectOf('a')]], 3)
    expect((await deleteAll(resources, kind, 'shop')).count).toBe(3)
    expect(asked).toStrictEqual([{ limit: 500, namespace: 'shop' }])
  })
})

it('deleteOne names an object without a namespace by none', async () => {
  const { namespace: _, ...metadata } = objectOf('a').metadata
  const { resources, deleted } = resourcesOf([[objectOf('a')]])
  expect(await deleteOne(resources, kind, { ...objectOf('a'), metadata })).toBeUndefined()
  expect(deleted).toEqual([{ name: 'a', namespace: '' }])
})
