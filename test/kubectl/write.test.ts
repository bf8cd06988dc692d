import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import { describe, expect, it } from 'vitest'
import { findKubectls, noKubectl } from '../support/kubectl.ts'
import { widgetSession } from './widget-session.ts'
import { manifests, widget, widgetDefinition } from './widgets.ts'
import { longOnly } from '../support/strength.ts'

const [newest] = await findKubectls()

describe.skipIf(newest === undefined)('kubectl writes', { meta: { skipped: noKubectl }, concurrent: true }, () => {
  const { kubectl, directory } = widgetSession(newest)

  const file = (name: string, text: string): string => {
    const path = join(directory, name)
    writeFileSync(path, text)
    return path
  }

  describe('create', () => {
    it('makes an object once', async () => {
      const input = widget('created')
      expect(await kubectl.ok('create -f -', { input })).toBe('widget.test.setpoint.dev/created created\n')
      expect(await kubectl.fails('create -f -', { input })).toContain(
        'Error from server (AlreadyExists): error when creating "STDIN": widgets.test.setpoint.dev "created" already exists',
      )
    })

    it('gives a name where one is generated', longOnly, async () => {
      const input = widget('x').replace('name: x', 'generateName: made-')
      expect(await kubectl.ok('create -f - -o name', { input })).toMatch(
        /^widget\.test\.setpoint\.dev\/made-[a-z0-9]{5}\n$/,
      )
    })

    it('makes namespaces, config maps and secrets', async () => {
      expect(await kubectl.ok('create namespace built-in')).toBe('namespace/built-in created\n')
      expect(
        await kubectl.ok("create configmap settings -n built-in --from-literal=a=1 --from-literal='b=two words'"),
      ).toBe('configmap/settings created\n')
      expect((await kubectl.json('get cm settings -n built-in')).data).toEqual({ a: '1', b: 'two words' })
      expect(await kubectl.ok('create secret generic login -n built-in --from-literal=password=hunter2')).toBe(
        'secret/login created\n',
      )
      const secret = await kubectl.json('get secret login -n built-in')
      expect(secret).toMatchObject({ type: 'Opaque', data: { password: Buffer.from('hunter2').toString('base64') } })
    })

    it('makes nothing in a dry run', longOnly, async () => {
      const input = widget('dry')
      expect(await kubectl.ok('create -f - --dry-run=server', { input })).toContain('dry created (server dry run)')
      expect(await kubectl.ok('create -f - --dry-run=client', { input })).toContain('dry created (dry run)')
      expect(await kubectl.fails('get wd dry')).toContain('NotFound')
    })

    it('refuses a namespace that is not there', longOnly, async () => {
      expect(await kubectl.fails('create -f -', { input: widget('lost', { namespace: 'nowhere' }) })).toContain(
        'namespaces "nowhere" not found',
      )
    })
  })

  describe('apply', () => {
    it('creates, leaves alone, and changes', async () => {
      const name = 'widget.test.setpoint.dev/applied'
      expect(await kubectl.apply(widget('applied', { spec: '{size: 1, note: one}' }))).toBe(`${name} created\n`)
      expect(await kubectl.apply(widget('applied', { spec: '{size: 1, note: one}' }))).toBe(`${name} unchanged\n`)
      expect(await kubectl.apply(widget('applied', { spec: '{size: 2}' }))).toBe(`${name} configured\n`)
      const after = await kubectl.json('get wd applied')
      expect(after).toMatchObject({ metadata: { generation: 2 }, spec: { size: 2 } })
      expect(after.spec).not.toHaveProperty('note')
    })

    it('leaves fields of others alone', longOnly, async () => {
      await kubectl.apply(widget('shared', { spec: '{size: 1}' }))
      await kubectl.ok(`patch wd shared --type=merge -p '{"spec":{"note":"theirs"}}'`)
      await kubectl.apply(widget('shared', { spec: '{size: 2}' }))
      expect((await kubectl.json('get wd shared')).spec).toEqual({ size: 2, note: 'theirs' })
    })

    it('changes a kind that is built in', longOnly, async () => {
      const map = (data: string): string =>
        `{apiVersion: v1, kind: ConfigMap, metadata: {name: map, namespace: default}, data: ${data}}\n`
      await kubectl.apply(map('{a: "1", b: "2"}'))
      expect(await kubectl.apply(map('{a: "1", c: "3"}'))).toBe('configmap/map configured\n')
      expect((await kubectl.json('get cm map')).data).toEqual({ a: '1', c: '3' })
    })

    it('takes a list', longOnly, async () => {
      const items = [widget('item-a'), widget('item-b')].map((text) => parse(text) as unknown)
      const list = JSON.stringify({ apiVersion: 'v1', kind: 'List', items })
      expect(await kubectl.apply(list)).toBe(
        'widget.test.setpoint.dev/item-a created\nwidget.test.setpoint.dev/item-b created\n',
      )
    })

    it('prunes what is no longer given', longOnly, async () => {
      const labels = '{set: pruned}'
      const path = file('prune.yaml', manifests(widget('kept', { labels }), widget('pruned', { labels })))
      const prune = `apply -f ${path} --prune -l set=pruned --prune-allowlist=test.setpoint.dev/v1/Widget`
      await kubectl.ok(prune)
      file('prune.yaml', widget('kept', { labels }))
      expect(await kubectl.ok(prune)).toContain('widget.test.setpoint.dev/pruned pruned')
      expect(await kubectl.ok('get wd -l set=pruned -o name')).toBe('widget.test.setpoint.dev/kept\n')
    })

    it('keeps a set, by its ConfigMap', longOnly, async () => {
      const set = (text: string): string =>
        `apply -f ${file('set.yaml', text)} --prune --applyset=configmaps/team -n default`
      const env = { KUBECTL_APPLYSET: 'true' }
      await kubectl.ok(set(manifests(widget('member'), widget('leaver'))), { env })
      expect(await kubectl.ok(set(widget('member')), { env })).toContain('leaver pruned')
      expect(await kubectl.ok('get wd member -o name')).toContain('member')
      expect(await kubectl.fails('get wd leaver')).toContain('NotFound')
    })

    it('tells last applied, and works from it', longOnly, async () => {
      await kubectl.apply(widget('noted', { spec: '{size: 4}' }))
      expect(await kubectl.ok('apply view-last-applied wd noted')).toMatch(/size: 4/)
    })

    it('defines a kind and makes the first of it in two runs of one file', async () => {
      const path = file(
        'gadgets.yaml',
        manifests(
          widgetDefinition
            .replaceAll('widget', 'gadget')
            .replace('kind: Widget', 'kind: Gadget')
            .replace('[wd]', '[gd]')
            .replace('[all, things]', '[all]'),
          widget('first').replace('kind: Widget', 'kind: Gadget'),
        ),
      )
      const first = await kubectl.run(`apply -f ${path}`)
      expect(first).toMatchObject({ code: 1, stderr: expect.stringContaining('no matches for kind "Gadget"') })
      await kubectl.ok('wait --for=condition=Established crd/gadgets.test.setpoint.dev')
      expect(await kubectl.ok(`apply -f ${path}`)).toContain('gadget.test.setpoint.dev/first created')
      expect(await kubectl.ok('get gd')).toMatch(/^first +1 /m)
    })
  })

  describe('diff', () => {
    it('tells nothing where nothing differs', longOnly, async () => {
      const input = widget('same', { spec: '{size: 1}' })
      await kubectl.apply(input)
      expect(await kubectl.run('diff -f -', { input })).toMatchObject({ code: 0, stdout: '' })
      const applied = widget('same-applied', { spec: '{size: 1}' })
      await kubectl.ok('apply --server-side -f -', { input: applied })
      expect(await kubectl.run('diff -f - --server-side', { input: applied })).toMatchObject({ code: 0, stdout: '' })
    })

    it('shows what an apply would change, and changes nothing', longOnly, async () => {
      await kubectl.apply(widget('differs', { spec: '{size: 1}' }))
      const differs = await kubectl.run('diff -f -', { input: widget('differs', { spec: '{size: 7}' }) })
      expect(differs).toMatchObject({ code: 1, stdout: expect.stringMatching(/^-  size: 1\n\+  size: 7$/m) })
      const isNew = await kubectl.run('diff -f -', { input: widget('imagined', { spec: '{size: 7}' }) })
      expect(isNew).toMatchObject({ code: 1, stdout: expect.stringContaining('+  name: imagined') })
      expect((await kubectl.json('get wd differs')).spec.size).toBe(1)
    })
  })

  describe('edit', () => {
    const editor = (name: string, script: string): { KUBE_EDITOR: string } => {
      const path = file(name, `#!/bin/sh\n${script}\n`)
      chmodSync(path, 0o755)
      return { KUBE_EDITOR: path }
    }

    it('stores what the editor made of the object', async () => {
      await kubectl.apply(widget('edited', { spec: '{size: 1}' }))
      const env = editor('editor', `sed -i 's/size: 1/size: 8/' "$1"`)
      expect(await kubectl.ok('edit wd edited', { env })).toBe('widget.test.setpoint.dev/edited edited\n')
      expect((await kubectl.json('get wd edited')).spec.size).toBe(8)
    })

    it('leaves the object alone when the editor did', longOnly, async () => {
      await kubectl.apply(widget('looked-at'))
      const looked = await kubectl.run('edit wd looked-at', { env: editor('reader', 'exit 0') })
      expect(looked).toMatchObject({ code: 0, stdout: '', stderr: 'Edit cancelled, no changes made.\n' })
    })

    it('opens the editor again with what is wrong', longOnly, async () => {
      await kubectl.apply(widget('mistaken', { spec: '{size: 1}' }))
      const seen = join(directory, 'seen')
      const env = editor(
        'clumsy',
        `cat "$1" >> ${seen}; if grep -q 'size: 1$' "$1"; then sed -i 's/size: 1$/size: 101/' "$1"; else sed -i 's/size: 101/size: 5/' "$1"; fi`,
      )
      expect(await kubectl.ok('edit wd mistaken', { env })).toContain('mistaken edited')
      expect((await kubectl.json('get wd mistaken')).spec.size).toBe(5)
      expect(await kubectl.ok('get --raw /healthz')).toBe('ok')
    })

    it('edits the status apart', longOnly, async () => {
      await kubectl.apply(widget('staged'))
      const env = editor('status', `printf 'status: {phase: Done}\\n' >> "$1"`)
      expect(await kubectl.ok('edit wd staged --subresource=status', { env })).toContain('staged edited')
      expect((await kubectl.json('get wd staged')).status).toEqual({ phase: 'Done' })
    })
  })

  describe('patch', () => {
    it('merges', async () => {
      await kubectl.apply(widget('merged', { spec: '{size: 1, note: gone, settings: {a: "1", b: "2"}}' }))
      const patch = `'{"spec":{"note":null,"size":2,"settings":{"b":"3"}}}'`
      expect(await kubectl.ok(`patch wd merged --type=merge -p ${patch}`)).toBe(
        'widget.test.setpoint.dev/merged patched\n',
      )
      expect((await kubectl.json('get wd merged')).spec).toEqual({ size: 2, settings: { a: '1', b: '3' } })
      expect(await kubectl.ok(`patch wd merged --type=merge -p ${patch}`)).toContain('patched (no change)')
    })

    it('takes operations', longOnly, async () => {
      await kubectl.apply(widget('operated', { spec: '{size: 1, tags: [a]}' }))
      const operations = `'[{"op":"test","path":"/spec/size","value":1},{"op":"add","path":"/spec/tags/-","value":"b"}]'`
      await kubectl.ok(`patch wd operated --type=json -p ${operations}`)
      expect((await kubectl.json('get wd operated')).spec.tags).toEqual(['a', 'b'])
      const misfit = `'[{"op":"test","path":"/spec/size","value":2}]'`
      expect(await kubectl.fails(`patch wd operated --type=json -p ${misfit}`)).toContain('The request is invalid')
    })

    it('refuses a strategic merge with a hint', longOnly, async () => {
      await kubectl.apply(widget('strategic'))
      expect(await kubectl.fails(`patch wd strategic -p '{"spec":{"size":2}}'`)).toContain('--type')
    })

    it('merges strategically what is built in', longOnly, async () => {
      await kubectl.ok('create cm strategic --from-literal=a=1')
      await kubectl.ok(`patch cm strategic -p '{"data":{"b":"2"}}'`)
      expect((await kubectl.json('get cm strategic')).data).toEqual({ a: '1', b: '2' })
    })

    it('changes the status through its own path only', longOnly, async () => {
      await kubectl.apply(widget('reported', { spec: '{size: 1}' }))
      const patch = `--type=merge -p '{"status":{"phase":"Done"},"spec":{"size":9}}'`
      await kubectl.ok(`patch wd reported --subresource=status ${patch}`)
      const { metadata, spec, status } = await kubectl.json('get wd reported')
      expect({ generation: metadata.generation, spec, status }).toEqual({
        generation: 1,
        spec: { size: 1 },
        status: { phase: 'Done' },
      })
      await kubectl.ok(`patch wd reported --type=merge -p '{"status":{"phase":"Forged"}}'`)
      expect((await kubectl.json('get wd reported')).status.phase).toBe('Done')
    })
  })

  describe('label and annotate', () => {
    it('add, change and remove', async () => {
      await kubectl.apply(widget('tagged', { labels: '{a: one}' }))
      expect(await kubectl.ok('label wd tagged b=two')).toBe('widget.test.setpoint.dev/tagged labeled\n')
      expect(await kubectl.fails('label wd tagged a=three')).toContain("'a' already has a value (one)")
      await kubectl.ok('label wd tagged a=three --overwrite')
      expect(await kubectl.ok('label wd tagged b-')).toContain('unlabeled')
      expect(await kubectl.ok(`annotate wd tagged 'why=because I can'`)).toContain('annotated')
      const { metadata } = await kubectl.json('get wd tagged')
      expect(metadata).toMatchObject({ generation: 1, labels: { a: 'three' }, annotations: { why: 'because I can' } })
      expect(metadata.labels).not.toHaveProperty('b')
      await kubectl.ok('annotate wd tagged why-')
      expect((await kubectl.json('get wd tagged')).metadata.annotations).not.toHaveProperty('why')
    })

    it('take many at once', longOnly, async () => {
      await kubectl.apply(
        manifests(widget('many-a', { labels: '{set: many}' }), widget('many-b', { labels: '{set: many}' })),
      )
      await kubectl.ok('label wd -l set=many seen=yes')
      expect(await kubectl.ok('get wd -l seen=yes -o name')).toMatch(/many-a\n.*many-b\n/)
    })

    it('refuse what is no label', longOnly, async () => {
      await kubectl.apply(widget('unlabelled'))
      expect(await kubectl.fails(`patch wd unlabelled --type=merge -p '{"metadata":{"labels":{"a b":"c"}}}'`)).toMatch(
        /The Widget "unlabelled" is invalid: metadata\.labels: Invalid value: "a b"/,
      )
    })
  })

  describe('replace', () => {
    it('puts another in the place of what is there', longOnly, async () => {
      await kubectl.ok('create -f -', { input: widget('replaced', { spec: '{size: 1, note: old}' }) })
      expect(await kubectl.ok('replace -f -', { input: widget('replaced', { spec: '{size: 2}' }) })).toBe(
        'widget.test.setpoint.dev/replaced replaced\n',
      )
      expect((await kubectl.json('get wd replaced')).spec).toEqual({ size: 2 })
    })

    it('makes nothing new', longOnly, async () => {
      expect(await kubectl.fails('replace -f -', { input: widget('absent') })).toContain(
        'widgets.test.setpoint.dev "absent" not found',
      )
    })

    it('refuses a version that has passed', async () => {
      await kubectl.ok('create -f -', { input: widget('raced') })
      const stale = JSON.stringify(await kubectl.json('get wd raced'))
      await kubectl.ok(`patch wd raced --type=merge -p '{"spec":{"size":2}}'`)
      expect(await kubectl.fails('replace -f -', { input: stale })).toContain(
        'Error from server (Conflict): error when replacing "STDIN": Operation cannot be fulfilled on widgets.test.setpoint.dev "raced": the object has been modified; please apply your changes to the latest version and try again',
      )
    })

    it('with --force deletes first', longOnly, async () => {
      await kubectl.ok('create -f -', { input: widget('forced') })
      const before = await kubectl.json('get wd forced')
      expect(await kubectl.ok('replace --force -f -', { input: widget('forced') })).toMatch(
        /deleted\n.*forced replaced\n/,
      )
      expect((await kubectl.json('get wd forced')).metadata.uid).not.toBe(before.metadata.uid)
    })

    it('replaces the status apart', longOnly, async () => {
      await kubectl.ok('create -f -', { input: widget('judged') })
      const object = await kubectl.json('get wd judged')
      const input = JSON.stringify({ ...object, spec: { size: 9 }, status: { phase: 'Judged' } })
      await kubectl.ok('replace --subresource=status -f -', { input })
      expect(await kubectl.json('get wd judged')).toMatchObject({ spec: { size: 1 }, status: { phase: 'Judged' } })
    })
  })
})
