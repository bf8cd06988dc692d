import { describe, expect, it } from 'vitest'
import { deleteAll, deleteContent, deleteSeen } from '../../../../shared/engine/loops/delete-all.ts'
import { OperatingError } from '../../../../shared/model/errors.ts'
import type { ApiObject } from '../../../../shared/model/object.ts'
import type { ServedKind } from '../../../../shared/model/served-kind.ts'
import type { Resources } from '../../../../shared/resources/resources.ts'
import { storedWidget } from '../../../support/stored-object.ts'

const kind = {} as ServedKind
const objectOf = (name: string, finalizers?: string[]): ApiObject =>
  storedWidget(name, finalizers && { finalizers }).object
const isDoomed = async (): Promise<boolean> => true

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
      if (at.name === 'full') throw new OperatingError('TOO_LARGE', 'it is full')
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
    expect(await deleteAll(resources, kind, { isDoomed })).toEqual({
      count: 2,
      finalizers: new Map([
        ['x/y', 2],
        ['z/z', 1],
      ]),
    })
    expect(asked).toStrictEqual([{ limit: 500 }, { limit: 500, continue: '1' }])
    expect(deleted).toEqual(['a', 'b', 'c', 'gone', 'd'].map((name) => ({ name, namespace: 'default' })))
  })

  it('goes on behind what cannot be deleted, and tells of it at the end', async () => {
    const { resources, deleted } = resourcesOf([[objectOf('full'), objectOf('a')], [objectOf('b')]])
    await expect(deleteAll(resources, kind, { isDoomed })).rejects.toMatchObject({ code: 'TOO_LARGE' })
    expect(deleted).toHaveLength(3)
  })

  it('of a namespace asks for that, and counts what cannot be read', async () => {
    const { resources, asked } = resourcesOf([[objectOf('a')]], 3)
    expect((await deleteAll(resources, kind, { namespace: 'shop', isDoomed })).count).toBe(3)
    expect(asked).toStrictEqual([{ limit: 500, namespace: 'shop' }])
  })

  it('leaves a page that was read too late, and all behind it', async () => {
    const { resources, asked, deleted } = resourcesOf([[objectOf('a')], [], [objectOf('b')], [objectOf('c')]])
    const askedAt: number[] = []
    const late = async (): Promise<boolean> => askedAt.push(asked.length) < 2
    expect(await deleteAll(resources, kind, { isDoomed: late })).toEqual({ count: 0, finalizers: new Map() })
    // Once for each page that has anything, and behind its read.
    expect(askedAt).toEqual([1, 3])
    expect(deleted).toEqual([{ name: 'a', namespace: 'default' }])
  })
})

describe('an object that is written while it is to be deleted', () => {
  /** Deletes it as it was listed; before that `between` happens. What was asked, in order, and how often it stays. */
  async function remove(between: { readonly newest?: ApiObject; readonly isDoomed: boolean }) {
    const listed = storedWidget('a', { resourceVersion: '1' }).object
    const steps: string[] = []
    const { resources } = resourcesOf([[listed]])
    const { resourceVersion } = listed.metadata
    const raced = {
      ...resources,
      get: async () => {
        steps.push('read')
        if (between.newest === undefined) throw new OperatingError('NOT_FOUND', 'gone')
        return { object: between.newest, engine: {} }
      },
      delete: async (
        _kind: ServedKind,
        _at: object,
        { preconditions }: { preconditions: { resourceVersion: string } },
      ) => {
        steps.push(`delete ${preconditions.resourceVersion}`)
        if (preconditions.resourceVersion === resourceVersion) throw new OperatingError('VERSION_CONFLICT', 'written')
        return { gone: true }
      },
    } as unknown as Resources
    let looks = 0
    const isStill = async (): Promise<boolean> => {
      steps.push('asked')
      return ++looks === 1 || between.isDoomed
    }
    const { count } = await deleteAll(raced, kind, { isDoomed: isStill })
    expect(count).toBe(0)
    return steps
  }
  const newest = storedWidget('a', { resourceVersion: '77' }).object

  it('is deleted as it is now, if it is still to go', async () => {
    const steps = ['asked', 'delete 1', 'read', 'asked', 'delete 77']
    expect(await remove({ newest, isDoomed: true })).toEqual(steps)
  })

  it('stays if it is not to go any more', async () => {
    expect(await remove({ newest, isDoomed: false })).toEqual(['asked', 'delete 1', 'read', 'asked'])
  })

  it('is left if it is gone', async () => {
    expect(await remove({ isDoomed: true })).toEqual(['asked', 'delete 1', 'read'])
  })
})

it('deleteContent leaves built-in kinds until the others are gone', async () => {
  const kinds = [{ builtIn: true }, { builtIn: false }] as unknown as readonly ServedKind[]
  for (const [finalizers, lists] of [
    [['x/y'], 1],
    [undefined, 2],
  ] as const) {
    const { resources, asked } = resourcesOf([[objectOf('a', finalizers && [...finalizers])]])
    await deleteContent(resources, kinds, { namespace: 'n', isDoomed })
    expect(asked).toHaveLength(lists)
  }
})

it('deleteSeen names the object and its version, and one without a namespace by none', async () => {
  const { namespace: _, ...metadata } = objectOf('a').metadata
  const { uid, resourceVersion } = metadata
  const asked: unknown[] = []
  const resources = {
    delete: async (...given: unknown[]) => {
      asked.push(...given.slice(1))
      return { gone: true }
    },
  } as unknown as Resources
  expect(await deleteSeen(resources, kind, { ...objectOf('a'), metadata })).toBeUndefined()
  expect(asked).toEqual([{ name: 'a', namespace: '' }, { preconditions: { uid, resourceVersion } }])
})
