import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { systemRandom } from '../../../shared/adapters/node/system-random.ts'
import { conditionsOf, isCondition } from '../../../shared/model/conditions.ts'
import type { CustomResourceDefinition } from '../../../shared/model/custom-resource-definition.ts'
import type { JsonObject } from '../../../shared/model/json.ts'
import type { ApiObject } from '../../../shared/model/object.ts'
import type { ServedKind } from '../../../shared/model/served-kind.ts'
import {
  customResourceDefinitionKind as definitionKind,
  namespaceKind,
} from '../../../shared/resources/built-in-kinds.ts'
import { createResources } from '../../../shared/resources/create-resources.ts'
import { servedKindsOf } from '../../../shared/resources/custom-kinds.ts'
import type { Resources, Written } from '../../../shared/resources/resources.ts'
import { expectCode } from '../../support/expect-code.ts'
import { openSqlite, type OpenSqlite } from '../../support/sqlite.ts'
import { createVirtualClock } from '../../support/virtual-clock.ts'

let opened: OpenSqlite
let resources: Resources
beforeEach(() => {
  const clock = createVirtualClock()
  opened = openSqlite(':memory:', clock)
  resources = createResources({ store: opened.store, clock, random: systemRandom })
})
afterEach(() => opened.close())

const manager = { manager: 'test' }

function definition(plural: string, names: object = {}, group = 'example.com') {
  const annotations = { 'api-approved.kubernetes.io': 'unapproved' }
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}`, annotations },
    spec: {
      group,
      scope: 'Namespaced',
      names: { plural, kind: 'Widget', ...names },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
    },
  }
}

async function create(plural: string, names?: object): Promise<ApiObject> {
  return (await resources.create(definitionKind, definition(plural, names), manager)).stored.object
}

function served(object: ApiObject): readonly string[] {
  return servedKindsOf(object as unknown as CustomResourceDefinition).map(({ plural, kind }) => `${plural} ${kind}`)
}

describe('a schema as others write it', () => {
  const fieldValidation = 'Strict'
  const withSchema = (schema: object, version: object = {}): JsonObject => {
    const given = definition('widgets')
    const versions = [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema }, ...version }]
    return { ...given, spec: { ...given.spec, versions } } as unknown as JsonObject
  }
  const write = async (body: JsonObject, options: object = {}): Promise<{ schema: unknown; warnings: unknown }> => {
    const { stored, warnings } = await resources.create(definitionKind, body, { ...manager, ...options })
    const { spec } = stored.object as unknown as CustomResourceDefinition
    return { schema: spec.versions[0]?.schema?.openAPIV3Schema, warnings }
  }
  const root = 'spec.versions[0].schema.openAPIV3Schema'

  it('says nothing with null, as on Kubernetes', async () => {
    const rule = { rule: 'true' }
    const field = { type: 'string', description: null, default: null, enum: null, maxLength: null }
    const list = { type: 'array', items: { type: 'string', format: null }, 'x-kubernetes-list-type': null }
    const fields = { a: field, list, any: { 'x-kubernetes-preserve-unknown-fields': true, allOf: null } }
    const schema = {
      type: 'object',
      required: null,
      properties: { spec: { type: 'object', properties: fields, 'x-kubernetes-validations': null } },
      'x-kubernetes-validations': [{ ...rule, message: null }, rule],
    }
    expect(await write(withSchema(schema), { fieldValidation })).toEqual({
      schema: {
        type: 'object',
        properties: {
          spec: {
            type: 'object',
            properties: {
              a: { type: 'string' },
              list: { type: 'array', items: { type: 'string' } },
              any: { 'x-kubernetes-preserve-unknown-fields': true },
            },
          },
        },
        'x-kubernetes-validations': [rule, rule],
      },
      warnings: [],
    })
  })

  it('has keywords that nobody knows: they are warned of, or refused by who wants strictness', async () => {
    const branch = { maxLength: 5, if: {} }
    const schema = (...extra: readonly JsonObject[]): JsonObject => ({
      type: 'object',
      properties: {
        spec: {
          type: 'object',
          additionalProperties: { type: 'string', allOf: [{ maxLength: 5, ...extra[0] }], ...extra[1] },
        },
      },
      ...extra[2],
    })
    const strange = withSchema(schema({ if: branch }, { 'x-go-name': 'A' }, { readOnly: true }))
    const faults = [
      `unknown field "${root}.properties.spec.additionalProperties.allOf[0].if"`,
      `unknown field "${root}.properties.spec.additionalProperties.x-go-name"`,
      `unknown field "${root}.readOnly"`,
    ]
    const refused = await expectCode(write(strange, { fieldValidation }), 'UNDECODABLE')
    expect(refused.message).toContain(`strict decoding error: ${faults.join(', ')}`)
    expect(await write(strange)).toEqual({ schema: schema(), warnings: faults })
  })

  it('has what Kubernetes knows and refuses', async () => {
    const schema = { type: 'object', patternProperties: { '^a': { type: 'string' } } }
    expect((await expectCode(write(withSchema(schema)), 'INVALID')).message).toContain('use additionalProperties')
  })

  it('belongs to a version that does not say whether it is served', async () => {
    const { stored } = await resources.create(definitionKind, withSchema({ type: 'object' }, { served: null }), manager)
    expect(stored.object).toMatchObject({ spec: { versions: [{ served: false, storage: true }] } })
  })
})

describe('a definition in a group of the control plane', () => {
  const taken = (field: string, name: string) =>
    `spec.names.${field}: Invalid value: "${name}": a kind of the control plane in this group has this name`

  it.each<[string, string, object, string]>([
    ['rbac.authorization.k8s.io', 'fakes', { kind: 'ClusterRoleBinding' }, taken('kind', 'ClusterRoleBinding')],
    ['rbac.authorization.k8s.io', 'roles', {}, taken('plural', 'roles')],
    ['removed.core', 'secrets', { kind: 'Secret' }, 'spec.group: Invalid value: "removed.core": is kept for records'],
    ['coordination.k8s.io', 'fakes', { singular: 'lease' }, taken('singular', 'lease')],
    ['coordination.k8s.io', 'fakes', { listKind: 'LeaseList' }, taken('listKind', 'LeaseList')],
    ['events.k8s.io', 'fakes', { kind: 'Event' }, taken('kind', 'Event')],
    [
      'admissionregistration.k8s.io',
      'fakes',
      { kind: 'ValidatingAdmissionPolicy' },
      taken('kind', 'ValidatingAdmissionPolicy'),
    ],
    ['apiextensions.k8s.io', 'fakes', { kind: 'CustomResourceDefinition' }, taken('kind', 'CustomResourceDefinition')],
  ])('%s cannot take what belongs to a kind of it: %s, %j', async (group, plural, names, why) => {
    const made = resources.create(definitionKind, definition(plural, names, group), manager)
    const error = await expectCode(made, 'INVALID')
    expect(error.message).toContain(why)
  })

  it('may have other names, cannot be renamed to one of these, and one of before can be let go', async () => {
    const group = 'rbac.authorization.k8s.io'
    const made = await resources.create(definitionKind, definition('roles2', {}, group), manager)
    expect(served(made.stored.object)).toEqual(['roles2 Widget'])
    const second = (await resources.create(definitionKind, definition('others', {}, group), manager)).stored.object
    expect(served(second)).toEqual([])
    const renamed = { type: 'merge', body: { spec: { names: { kind: 'Role', listKind: 'Rs' } } } } as const
    await expectCode(resources.patch(definitionKind, second.metadata, renamed, manager), 'INVALID')

    const names = { plural: 'roles3', singular: 'role3', kind: 'Role', listKind: 'RoleList' }
    const old = { ...second, metadata: { ...second.metadata, name: `roles3.${group}`, uid: 'old' } }
    const stored = { ...old, spec: { ...(second.spec as JsonObject), names } }
    await opened.store.create({ object: stored, engine: {} })
    const letGo = { type: 'merge', body: { metadata: { finalizers: null } } } as const
    await resources.patch(definitionKind, stored.metadata, letGo, manager)
  })

  it('shares no name with a kind of another group', async () => {
    expect(served(await create('leases', { kind: 'Lease' }))).toEqual(['leases Lease'])
  })
})

describe('a definition', () => {
  it('whose kind another has is not served, so that no object is reached by two ways', async () => {
    expect(served(await create('widgets'))).toEqual(['widgets Widget'])
    const late = await create('widgetz', { singular: 'widgy' })
    expect(isCondition(late, 'NamesAccepted')).toBe(false)
    expect(served(late)).toEqual([])
  })

  it('that got the kind of another, as both were written in the same moment, loses it when it is looked at', async () => {
    const both = await Promise.all([create('widgets'), create('widgetz', { singular: 'w', shortNames: ['wz'] })])
    expect(both.flatMap(served)).toEqual(['widgets Widget', 'widgetz Widget'])
    const looked = []
    for (const { metadata } of both)
      looked.push(await resources.patch(definitionKind, metadata, { type: 'merge', body: {} }, manager))
    const [kept, lost] = looked.map(({ stored }) => stored.object)
    expect(served(kept as ApiObject)).toEqual(['widgets Widget'])
    expect(served(lost as ApiObject)).toEqual([])
    expect(lost?.status).toMatchObject({
      acceptedNames: { plural: 'widgetz', kind: '', singular: 'w', shortNames: ['wz'] },
    })
    expect(conditionsOf(lost as ApiObject)).toMatchObject([
      { type: 'NamesAccepted', status: 'False', message: '"WidgetList" is already in use' },
      { type: 'Established', status: 'False' },
    ])

    await opened.store.remove({ object: kept as ApiObject, engine: {} })
    const again = await resources.patch(definitionKind, both[1].metadata, { type: 'merge', body: {} }, manager)
    expect(served(again.stored.object)).toEqual(['widgetz Widget'])
  })

  it('is not served because it is deleted while another has its names', async () => {
    await create('widgets')
    await create('widgetz')
    const { stored } = await resources.delete(definitionKind, { name: 'widgetz.example.com' })
    expect(served(stored.object)).toEqual([])
  })

  it('gets its names with the first write after they are free', async () => {
    const first = await create('widgets')
    await create('widgetz')
    await opened.store.remove({ object: first, engine: {} })
    const { stored } = await resources.patch(
      definitionKind,
      { name: 'widgetz.example.com' },
      { type: 'merge', body: {} },
      manager,
    )
    expect(served(stored.object)).toEqual(['widgetz Widget'])
  })

  const says = (plural: string, status: JsonObject): Promise<Written> =>
    resources.patch(
      definitionKind,
      { name: `${plural}.example.com` },
      { type: 'merge', body: { status } },
      { ...manager, subresource: 'status' },
    )
  const established = { type: 'Established', status: 'True', reason: 'Said', message: '' }

  it('keeps its names until it is gone, whatever its status is made to say: its objects are found by them', async () => {
    await create('widgets')
    const unsaid = { acceptedNames: { plural: 'others', kind: 'Other' }, conditions: [] }
    expect(served((await says('widgets', unsaid)).stored.object)).toEqual(['widgets Widget'])
    await resources.delete(definitionKind, { name: 'widgets.example.com' })
    expect(served((await says('widgets', unsaid)).stored.object)).toEqual(['widgets Widget'])
  })

  it("gets no names of another's by saying that it had them: their objects would go with it", async () => {
    await create('widgets')
    await create('widgetz')
    const said = { acceptedNames: { plural: 'widgetz', kind: 'Widget' }, conditions: [established] }
    expect(served((await says('widgetz', said)).stored.object)).toEqual([])
    await resources.delete(definitionKind, { name: 'widgetz.example.com' })
    expect(served((await says('widgetz', said)).stored.object)).toEqual([])
  })

  it('may be told by others what it does not tell itself', async () => {
    await create('widgets')
    const offered = { type: 'Offered', status: 'True', reason: 'Said', message: '' }
    const { stored } = await says('widgets', { conditions: [offered] })
    expect(conditionsOf(stored.object).map(({ type }) => type)).toEqual(['NamesAccepted', 'Established', 'Offered'])
    expect((await says('widgets', {})).outcome).toBe('unchanged')
  })

  it('that is deleted gets no new objects, which nobody would see off', async () => {
    await create('widgets')
    const { stored } = await resources.delete(definitionKind, { name: 'widgets.example.com' })
    const [kind] = servedKindsOf(stored.object as unknown as CustomResourceDefinition)
    await resources.create(namespaceKind, { metadata: { name: 'default' } }, manager)
    const refused = { message: 'create not allowed while custom resource definition is terminating' }
    const body = { metadata: { name: 'w', namespace: 'default' } }
    expect(await expectCode(resources.create(kind as ServedKind, body, manager), 'METHOD_NOT_ALLOWED')).toMatchObject(
      refused,
    )
    const applied = resources.patch(
      kind as ServedKind,
      { name: 'w', namespace: 'default' },
      { type: 'apply', body, force: false },
      manager,
    )
    expect(await expectCode(applied, 'METHOD_NOT_ALLOWED')).toMatchObject(refused)
  })

  it.each([
    { because: 'objects are found by their kind', change: { names: { kind: 'Gadget' } } },
    { because: 'objects stand in a namespace or in none', change: { scope: 'Cluster' } },
  ])('cannot be changed where $because', async ({ change }) => {
    await create('widgets')
    const patch = resources.patch(
      definitionKind,
      { name: 'widgets.example.com' },
      { type: 'merge', body: { spec: change } },
      manager,
    )
    expect(await expectCode(patch, 'INVALID')).toMatchObject({ message: expect.stringContaining('immutable') })
  })

  it('keeps the finalizer for its objects until it is deleted, though a writer leaves it out', async () => {
    const at = { name: 'widgets.example.com' }
    const without = { type: 'merge', body: { metadata: { finalizers: null } } } as const
    await create('widgets')
    const { stored: kept } = await resources.patch(definitionKind, at, without, manager)
    expect(kept.object.metadata.finalizers).toEqual(['customresourcecleanup.apiextensions.k8s.io'])
    expect((await resources.delete(definitionKind, at)).gone).toBe(false)
    await resources.patch(definitionKind, at, without, manager)
    await expectCode(resources.get(definitionKind, at), 'NOT_FOUND')
  })

  it('keeps the finalizers it was made with', async () => {
    const given = definition('widgets')
    const body = { ...given, metadata: { ...given.metadata, finalizers: ['example.com/mine'] } }
    const { stored } = await resources.create(definitionKind, body, manager)
    expect(stored.object.metadata.finalizers).toEqual([
      'example.com/mine',
      'customresourcecleanup.apiextensions.k8s.io',
    ])
  })
})
