import { describe, expect, it } from 'vitest'
import { subresourcesOf } from '../../../shared/api/subresources.ts'
import type { ServedKind } from '../../../shared/model/served-kind.ts'
import { serviceAccountKind } from '../../../shared/resources/access-kinds.ts'
import { namespaceKind } from '../../../shared/resources/built-in-kinds.ts'
import { plainKind } from './called.ts'

const scale = { specReplicasPath: '.spec.n', statusReplicasPath: '.status.n' }
const change = 'get,patch,update'

describe('the subresources', () => {
  it.each<[string, ServedKind, readonly string[]]>([
    ['a kind that has none', plainKind, []],
    ['a kind with status', { ...plainKind, hasStatus: true }, [`status K ${change}`]],
    ['a kind that is scaled', { ...plainKind, scale }, [`scale Scale ${change}`]],
    ['a kind with both', { ...plainKind, hasStatus: true, scale }, [`status K ${change}`, `scale Scale ${change}`]],
    ['ServiceAccounts', serviceAccountKind, ['token TokenRequest create']],
    ['namespaces', namespaceKind, [`status Namespace ${change}`, 'finalize Namespace update']],
  ])('of %s', (_what, kind, all) => {
    expect(subresourcesOf(kind).map(({ name, is, verbs }) => `${name} ${is.kind} ${verbs.join()}`)).toEqual(all)
  })
})
