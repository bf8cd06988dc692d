import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { findKubectls, noKubectl } from '../support/kubectl.ts'
import type { Program } from '../support/program.ts'
import { widgetSession } from './widget-session.ts'
import { manifests, widget, widgetDefinition } from './widgets.ts'

const [newest] = await findKubectls()

describe.skipIf(newest === undefined)('kubectl delete', { meta: { skipped: noKubectl }, concurrent: true }, () => {
  const { kubectl } = widgetSession(newest)

  const names = (line: string): Promise<string> => kubectl.ok(`get ${line} -o name --ignore-not-found`)
  const held = (...said: Parameters<typeof widget>): string =>
    widget(...said).replace('metadata:', 'metadata:\n  finalizers: [test.setpoint.dev/held]')

  it('removes an object and says so', async () => {
    await kubectl.apply(widget('plain'))
    expect(await kubectl.ok('delete wd plain')).toMatch(/^widget\.test\.setpoint\.dev "plain" deleted/)
    expect(await kubectl.fails('delete wd plain')).toContain('widgets.test.setpoint.dev "plain" not found')
    expect(await kubectl.run('delete wd plain --ignore-not-found')).toMatchObject({ code: 0, stdout: '' })
  })

  it('removes many, by label, by file, or all of a namespace', async () => {
    const set = manifests(widget('many-a', { labels: '{set: x}' }), widget('many-b', { labels: '{set: x}' }))
    await kubectl.apply(set)
    expect(await kubectl.ok('delete wd -l set=x')).toMatch(/many-a" deleted[^]*many-b" deleted/)
    await kubectl.apply(set)
    expect(await kubectl.ok('delete -f -', { input: set })).toMatch(/many-a" deleted[^]*many-b" deleted/)
    await kubectl.ok('create ns all')
    await kubectl.apply(set.replaceAll('namespace: default', 'namespace: all'))
    await kubectl.ok('delete wd --all -n all')
    expect(await names('wd -n all')).toBe('')
  })

  it('removes nothing in a dry run', async () => {
    await kubectl.apply(widget('dry'))
    expect(await kubectl.ok('delete wd dry --dry-run=server')).toContain('(server dry run)')
    expect(await names('wd dry')).not.toBe('')
  })

  describe('with a finalizer', () => {
    const letGo = (name: string): Promise<string> =>
      kubectl.ok(`patch wd ${name} --type=merge -p '{"metadata":{"finalizers":null}}'`)

    it('waits until the finalizer is gone', async () => {
      await kubectl.apply(held('held'))
      const deleting = await kubectl.start('delete wd held')
      const isOver = notedEnd(deleting)
      await deleting.says(/"held" deleted/)
      expect(await kubectl.json('get wd held')).toMatchObject({
        metadata: { generation: 2, deletionTimestamp: expect.any(String), deletionGracePeriodSeconds: 0 },
      })
      expect(isOver()).toBe(false)
      await letGo('held')
      expect(await deleting.ended).toMatchObject({ code: 0 })
      expect(await names('wd held')).toBe('')
    })

    it('does not wait when told not to, nor longer than told', async () => {
      await kubectl.apply(held('left'))
      expect(await kubectl.ok('delete wd left --wait=false')).toContain('deleted')
      const waited = await kubectl.run('delete wd left --timeout=1s')
      expect(waited).toMatchObject({
        code: 1,
        stderr: expect.stringContaining('timed out waiting for the condition'),
      })
      await letGo('left')
      expect(await names('wd left')).toBe('')
    })

    it('takes no finalizer more, and still takes changes', async () => {
      await kubectl.apply(held('late'))
      await kubectl.ok('delete wd late --wait=false')
      const more = `'{"metadata":{"finalizers":["test.setpoint.dev/held","test.setpoint.dev/more"]}}'`
      expect(await kubectl.fails(`patch wd late --type=merge -p ${more}`)).toMatch(
        /metadata\.finalizers: Forbidden: no new finalizers can be added if the object is being deleted/,
      )
      await kubectl.ok(`patch wd late --type=merge -p '{"spec":{"size":7}}'`)
      expect((await kubectl.json('get wd late')).spec.size).toBe(7)
      await letGo('late')
    })

    it('is waited for by kubectl wait', async () => {
      await kubectl.apply(held('awaited'))
      await kubectl.ok('delete wd awaited --wait=false')
      const waiting = await kubectl.start('wait --for=delete wd/awaited --timeout=60s')
      const isOver = notedEnd(waiting)
      // Takes about as long as the other one takes to begin.
      await kubectl.ok('get wd awaited')
      expect(isOver()).toBe(false)
      await letGo('awaited')
      expect(await waiting.ended).toMatchObject({ code: 0 })
    })
  })

  describe('of an owner', () => {
    /** A Widget and another that it owns. */
    const family = async (name: string, isHeld = false): Promise<void> => {
      await kubectl.apply(widget(name))
      const uid = await kubectl.ok(`get wd ${name} -o jsonpath={.metadata.uid}`)
      const owner = `{apiVersion: test.setpoint.dev/v1, kind: Widget, name: ${name}, uid: ${uid}, controller: true, blockOwnerDeletion: true}`
      const finalizers = isHeld ? '\n  finalizers: [test.setpoint.dev/held]' : ''
      await kubectl.apply(
        widget(`${name}-child`).replace('metadata:', `metadata:\n  ownerReferences: [${owner}]${finalizers}`),
      )
    }

    it('takes what it owns with it, after a while', async () => {
      await family('background')
      await kubectl.ok('delete wd background')
      await kubectl.ok('wait --for=delete wd/background-child --timeout=60s')
      expect(await names('wd background-child')).toBe('')
    })

    it('deletes what it owns first when in the foreground', async () => {
      await family('foreground', true)
      const deleting = await kubectl.start('delete wd foreground --cascade=foreground')
      await kubectl.ok("wait --for=jsonpath='{.metadata.deletionTimestamp}' wd/foreground-child --timeout=60s")
      expect((await kubectl.json('get wd foreground')).metadata.finalizers).toEqual(['foregroundDeletion'])
      await kubectl.ok(`patch wd foreground-child --type=merge -p '{"metadata":{"finalizers":null}}'`)
      expect(await deleting.ended).toMatchObject({ code: 0 })
      expect(await names('wd foreground-child')).toBe('')
    })

    it('keeps the children when it orphans them', async () => {
      await family('orphaning')
      await kubectl.ok('delete wd orphaning --cascade=orphan')
      const child = await kubectl.json('get wd orphaning-child')
      expect(child.metadata).not.toHaveProperty('ownerReferences')
      await sleep(1_500)
      expect(await names('wd orphaning-child')).not.toBe('')
    })

    it('takes what is applied for it when it is gone already', async () => {
      const owner =
        '{apiVersion: test.setpoint.dev/v1, kind: Widget, name: never, uid: 6d4f2b6e-0000-4000-8000-000000000000}'
      await kubectl.apply(widget('stray').replace('metadata:', `metadata:\n  ownerReferences: [${owner}]`))
      await kubectl.ok('wait --for=delete wd/stray --timeout=60s')
      expect(await names('wd stray')).toBe('')
    })
  })

  it('of the default namespace is refused', async () => {
    expect(await kubectl.fails('delete ns default')).toBe(
      'Error from server (Forbidden): namespaces "default" is forbidden: this namespace may not be deleted\n',
    )
  })

  it('of a namespace removes everything in it', async () => {
    await kubectl.ok('create ns doomed')
    await kubectl.apply(
      manifests(widget('inside', { namespace: 'doomed' }), widget('inside-too', { namespace: 'doomed' })),
    )
    await kubectl.ok('create cm -n doomed map --from-literal=a=1')
    await kubectl.ok('delete ns doomed --timeout=60s')
    expect(await names('ns doomed')).toBe('')
    expect(await names('wd,cm -n doomed')).toBe('')
    expect(await kubectl.ok('create ns doomed')).toContain('created')
    expect(await names('wd,cm -n doomed')).toBe('')
  })

  it('of a namespace waits for what holds on, and lets nothing new in', async () => {
    await kubectl.ok('create ns leaving')
    await kubectl.apply(held('clings', { namespace: 'leaving' }))
    await kubectl.ok('delete ns leaving --wait=false')
    await kubectl.ok("wait --for=jsonpath='{.metadata.deletionTimestamp}' wd/clings -n leaving --timeout=60s")
    expect(await kubectl.ok('get ns leaving')).toMatch(/^leaving +Terminating/m)
    expect(await kubectl.fails('create cm -n leaving late --from-literal=a=1')).toContain(
      'unable to create new content in namespace leaving because it is being terminated',
    )
    const condition = '{.status.conditions[?(@.type=="NamespaceFinalizersRemaining")].message}'
    await kubectl.ok('wait --for=condition=NamespaceFinalizersRemaining ns/leaving --timeout=60s')
    expect(await kubectl.ok(`get ns leaving -o 'jsonpath=${condition}'`)).toContain(
      'test.setpoint.dev/held in 1 resource',
    )
    await kubectl.ok(`patch wd clings -n leaving --type=merge -p '{"metadata":{"finalizers":null}}'`)
    await kubectl.ok('wait --for=delete ns/leaving --timeout=60s')
    expect(await names('ns leaving')).toBe('')
  })

  it('of a manifest that holds a namespace and what is in it ends well', async () => {
    const manifest = manifests(
      '{apiVersion: v1, kind: Namespace, metadata: {name: whole}}\n',
      widget('inside', { namespace: 'whole' }),
      '{apiVersion: v1, kind: ConfigMap, metadata: {name: inside, namespace: whole}}\n',
    )
    await kubectl.apply(manifest)
    expect(await kubectl.ok('delete -f - --timeout=60s', { input: manifest })).toContain('configmap "inside" deleted')
    expect(await names('ns whole')).toBe('')
  })

  it('of a namespace is forced through finalize', async () => {
    await kubectl.ok('create ns forced')
    await kubectl.apply(held('stays', { namespace: 'forced' }))
    await kubectl.ok('delete ns forced --wait=false')
    const namespace = '{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"forced"},"spec":{"finalizers":[]}}'
    await kubectl.ok('replace --raw /api/v1/namespaces/forced/finalize -f -', { input: namespace })
    await kubectl.ok('wait --for=delete ns/forced --timeout=60s')
    expect(await names('ns forced')).toBe('')
  })

  it('of a definition removes the kind and all objects of it', async () => {
    const definition = widgetDefinition
      .replaceAll('widget', 'trinket')
      .replace('kind: Widget', 'kind: Trinket')
      .replace('[wd]', '[tk]')
    const trinket = widget('one').replace('kind: Widget', 'kind: Trinket')
    await kubectl.apply(definition)
    await kubectl.ok('wait --for=condition=Established crd/trinkets.test.setpoint.dev')
    await kubectl.apply(trinket)
    await kubectl.ok('delete crd trinkets.test.setpoint.dev --timeout=60s')
    expect(await kubectl.fails('get trinkets')).toMatch(
      /doesn't have a resource type|could not find the requested resource/,
    )
    await kubectl.apply(definition)
    await kubectl.ok('wait --for=condition=Established crd/trinkets.test.setpoint.dev')
    expect(await names('trinkets')).toBe('')
  })
})

/** Whether the program has ended by then. */
function notedEnd({ ended }: Program): () => boolean {
  let isOver = false
  void ended.then(() => (isOver = true))
  return () => isOver
}
