import { describe, expect, it } from 'vitest'
import { findKubectls, noKubectl } from '../support/kubectl.ts'
import { widgetSession } from './widget-session.ts'
import { widget, widgetDefinition } from './widgets.ts'
import { longOnly } from '../support/strength.ts'

const [newest] = await findKubectls()

describe.skipIf(newest === undefined)(
  'kubectl apply --server-side',
  { meta: { skipped: noKubectl }, concurrent: true },
  () => {
    const { kubectl } = widgetSession(newest)

    const apply = (input: string, flags = ''): Promise<string> =>
      kubectl.ok(`apply --server-side ${flags} -f -`, { input })
    const specOf = async (name: string): Promise<unknown> => (await kubectl.json(`get wd ${name}`)).spec
    const versionOf = (name: string): Promise<string> =>
      kubectl.ok(`get wd ${name} -o jsonpath='{.metadata.resourceVersion}'`)

    it('creates, changes, and writes nothing where nothing changes', async () => {
      expect(await apply(widget('plain', { spec: '{size: 1}' }))).toBe(
        'widget.test.setpoint.dev/plain serverside-applied\n',
      )
      await apply(widget('plain', { spec: '{size: 2}' }))
      const version = await versionOf('plain')
      await apply(widget('plain', { spec: '{size: 2}' }))
      expect(await versionOf('plain')).toBe(version)
      expect(await specOf('plain')).toEqual({ size: 2 })
    })

    it('removes what is no longer applied, and leaves fields of others alone', longOnly, async () => {
      await apply(widget('left', { spec: '{size: 1, note: mine}' }))
      await apply(widget('left', { spec: '{color: red}' }), '--field-manager=painter')
      await apply(widget('left', { spec: '{size: 1}' }))
      expect(await specOf('left')).toEqual({ size: 1, color: 'red' })
    })

    it('tells who owns which field', async () => {
      await apply(widget('owned', { spec: '{size: 1}' }))
      await apply(widget('owned', { spec: '{color: red}' }), '--field-manager=painter')
      const { metadata } = await kubectl.json('get wd owned --show-managed-fields')
      expect(metadata.managedFields).toMatchObject([
        { manager: 'kubectl', operation: 'Apply', fieldsV1: { 'f:spec': { 'f:size': {} } } },
        { manager: 'painter', operation: 'Apply', fieldsV1: { 'f:spec': { 'f:color': {} } } },
      ])
      expect((await kubectl.json('get wd owned')).metadata).not.toHaveProperty('managedFields')
    })

    it('conflicts over a field of another, until forced', async () => {
      await apply(widget('disputed', { spec: '{size: 1}' }), '--field-manager=alice')
      const input = widget('disputed', { spec: '{size: 2}' })
      const complaint = await kubectl.fails('apply --server-side --field-manager=bob -f -', { input })
      expect(complaint).toContain('Apply failed with 1 conflict: conflict with "alice": .spec.size')
      expect(complaint).toContain('--force-conflicts')
      expect(await specOf('disputed')).toEqual({ size: 1 })
      await apply(input, '--field-manager=bob --force-conflicts')
      expect(await specOf('disputed')).toEqual({ size: 2 })
      const retort = await kubectl.fails('apply --server-side --field-manager=alice -f -', {
        input: widget('disputed', { spec: '{size: 1}' }),
      })
      expect(retort).toContain('conflict with "bob"')
    })

    it('shares a field on which both agree', longOnly, async () => {
      await apply(widget('agreed', { spec: '{size: 5}' }), '--field-manager=alice')
      await apply(widget('agreed', { spec: '{size: 5}' }), '--field-manager=bob')
      await apply(widget('agreed', { spec: '{note: x}' }), '--field-manager=alice')
      expect(await specOf('agreed')).toEqual({ size: 5, note: 'x' })
    })

    it('conflicts with a plain write, too', longOnly, async () => {
      await apply(widget('scaled', { spec: '{size: 1}' }))
      await kubectl.ok(`patch wd scaled --type=merge -p '{"spec":{"size":4}}'`)
      const complaint = await kubectl.fails('apply --server-side -f -', {
        input: widget('scaled', { spec: '{size: 1}' }),
      })
      expect(complaint).toContain('conflict with "kubectl-patch" using test.setpoint.dev/v1: .spec.size')
    })

    it('merges lists by what the schema says of them', longOnly, async () => {
      const alice = '{tags: [a, b], ports: [{name: http, port: 80}, {name: admin, port: 81}]}'
      await apply(widget('lists', { spec: alice }), '--field-manager=alice')
      await apply(widget('lists', { spec: '{tags: [c], ports: [{name: dns, port: 53}]}' }), '--field-manager=bob')
      await apply(widget('lists', { spec: '{tags: [b], ports: [{name: http, port: 8080}]}' }), '--field-manager=alice')
      expect(await specOf('lists')).toMatchObject({
        tags: ['b', 'c'],
        ports: [
          { name: 'http', port: 8080 },
          { name: 'dns', port: 53 },
        ],
      })
    })

    it('takes over what was applied client-side, and nothing else', longOnly, async () => {
      await kubectl.apply(widget('moved', { spec: '{size: 1, note: mine}' }))
      await kubectl.ok(`patch wd moved --type=merge -p '{"spec":{"color":"red"}}'`)
      await apply(widget('moved', { spec: '{size: 2}' }))
      expect(await specOf('moved')).toEqual({ size: 2, color: 'red' })
      await apply(widget('moved', { spec: '{size: 3}' }))
      const { metadata } = await kubectl.json('get wd moved --show-managed-fields')
      expect(metadata.managedFields.map((entry: { manager: string }) => entry.manager)).not.toContain(
        'kubectl-client-side-apply',
      )
    })

    it('conflicts with whoever created it, by name', longOnly, async () => {
      await kubectl.ok('create -f -', { input: widget('created', { spec: '{size: 1}' }) })
      const { metadata } = await kubectl.json('get wd created --show-managed-fields')
      expect(metadata.managedFields).toMatchObject([
        { manager: 'kubectl-create', operation: 'Update', fieldsV1: { 'f:spec': { 'f:size': {} } } },
      ])
      const complaint = await kubectl.fails('apply --server-side -f -', {
        input: widget('created', { spec: '{size: 2}' }),
      })
      expect(complaint).toContain('conflict with "kubectl-create" using test.setpoint.dev/v1: .spec.size')
    })

    it('conflicts over what somebody else changed since it was applied client-side', longOnly, async () => {
      await kubectl.apply(widget('changed', { spec: '{size: 1}' }))
      await kubectl.ok(`patch wd changed --type=merge -p '{"spec":{"size":4}}'`)
      const complaint = await kubectl.fails('apply --server-side -f -', {
        input: widget('changed', { spec: '{size: 2}' }),
      })
      expect(complaint).toContain('.spec.size')
      expect(await specOf('changed')).toEqual({ size: 4 })
    })

    it('goes back to client-side apply', longOnly, async () => {
      await apply(widget('back', { spec: '{size: 1}' }))
      expect(await kubectl.apply(widget('back', { spec: '{size: 2}' }))).toContain('back configured')
      expect(await specOf('back')).toEqual({ size: 2 })
    })

    it('changes nothing in a dry run', longOnly, async () => {
      expect(await apply(widget('tried'), '--dry-run=server')).toContain('serverside-applied (server dry run)')
      expect(await kubectl.fails('get wd tried')).toContain('NotFound')
    })

    it('applies the status apart', longOnly, async () => {
      await apply(widget('reported', { spec: '{size: 1}' }))
      const input = `${widget('reported')}status: {phase: Done}\n`.replace('spec: {}\n', '')
      await apply(input, '--subresource=status --field-manager=reporter')
      expect(await kubectl.json('get wd reported')).toMatchObject({ spec: { size: 1 }, status: { phase: 'Done' } })
    })

    it('refuses a field that the schema does not know', async () => {
      const input = widget('odd', { spec: '{weight: 1}' })
      expect(await kubectl.fails('apply --server-side -f -', { input })).toContain(
        '.spec.weight: field not declared in schema',
      )
    })

    it('applies what is built in, and a definition', longOnly, async () => {
      const map = (data: string): string =>
        `{apiVersion: v1, kind: ConfigMap, metadata: {name: applied, namespace: default}, data: ${data}}`
      await apply(map('{a: "1", b: "2"}'))
      await apply(map('{a: "1"}'))
      expect((await kubectl.json('get cm applied')).data).toEqual({ a: '1' })
      expect(await apply(widgetDefinition)).toContain('serverside-applied')
      expect(await apply(widgetDefinition)).toContain('serverside-applied')
    })
  },
)
