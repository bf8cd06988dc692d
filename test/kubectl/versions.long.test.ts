import { beforeAll, describe, expect, it } from 'vitest'
import { findKubectls, noKubectl, type Kubectl } from '../support/kubectl.ts'
import { widgetSession } from './widget-session.ts'
import { widget } from './widgets.ts'

const [newest, ...older] = await findKubectls()
// The short form has the oldest of them.
const others = older
const only = newest === undefined ? noKubectl : `no kubectl but 1.${newest.minor}, which all other files are about`

/** The other files drive the newest kubectl there is; this one the main path through each other version. */
describe.skipIf(others.length === 0)('an older kubectl', { meta: { skipped: only } }, () => {
  const session = widgetSession(newest)

  describe.each(others.map((binary) => ({ ...binary, version: `1.${binary.minor}` })))(
    '$version',
    { concurrent: true },
    (binary) => {
      const namespace = `with-${binary.minor}`
      let kubectl: Kubectl
      beforeAll(async () => {
        kubectl = session.with(binary)
        await kubectl.ok(`create namespace ${namespace}`)
      })
      const thing = (name: string, size: number): string => widget(name, { namespace, spec: `{size: ${size}}` })
      const inNamespace = (line: string): Promise<string> => kubectl.ok(`-n ${namespace} ${line}`)

      it('finds out what there is', async () => {
        const version = await kubectl.run('version')
        expect(version).toMatchObject({ code: 0, stdout: expect.stringContaining('Server Version: v1.') })
        expect(await kubectl.ok('api-resources')).toMatch(/^widgets +wd +test\.setpoint\.dev\/v1 +true +Widget$/m)
        expect(await kubectl.ok('explain widget.spec.size')).toContain('How big it is.')
        expect(await kubectl.ok('auth can-i create widgets')).toBe('yes\n')
        expect(await kubectl.ok('auth whoami')).toContain('setpoint-admin')
      })

      it('makes what is built in', async () => {
        await inNamespace('create configmap map --from-literal=a=1')
        await inNamespace('create secret generic login --from-literal=a=1')
        expect(await inNamespace('get cm,secret -o name')).toBe('configmap/map\nsecret/login\n')
      })

      it('applies, looks and deletes', async () => {
        expect(await kubectl.apply(thing('one', 1))).toContain('created')
        expect(await kubectl.apply(thing('one', 1))).toContain('unchanged')
        expect(await kubectl.run('diff -f -', { input: thing('one', 2) })).toMatchObject({ code: 1 })
        expect(await kubectl.apply(thing('one', 2))).toContain('configured')
        expect(await inNamespace('get wd')).toMatch(/^NAME +SIZE +READY +AGE\none +2 /)
        expect(await inNamespace('get wd one -o yaml')).toContain('size: 2')
        expect(await inNamespace('describe wd one')).toMatch(/Events: +<none>/)
        await inNamespace('delete wd one')
        expect(await inNamespace('get wd one -o name --ignore-not-found')).toBe('')
      })

      it('applies server-side', async () => {
        await kubectl.ok('apply --server-side -f -', { input: thing('two', 1) })
        await kubectl.ok('apply --server-side -f -', { input: thing('two', 2) })
        expect(await inNamespace(`get wd two -o jsonpath='{.spec.size}'`)).toBe('2')
      })

      it('changes and waits', async () => {
        await kubectl.apply(thing('three', 1))
        const waiting = inNamespace(`wait --for=jsonpath='{.status.phase}'=Done wd/three --timeout=60s`)
        const watch = await kubectl.start(`-n ${namespace} get wd three -w`)
        await inNamespace(`patch wd three --type=merge -p '{"spec":{"size":3}}'`)
        await inNamespace('label wd three a=b')
        await inNamespace(`patch wd three --subresource=status --type=merge -p '{"status":{"phase":"Done"}}'`)
        expect(await waiting).toContain('condition met')
        await watch.says(/three +3 /)
        await watch.stop('SIGINT')
      })

      it('is told what is wrong', async () => {
        expect(await kubectl.fails('apply -f -', { input: thing('bad', 101) })).toContain(
          'The Widget "bad" is invalid: spec.size: Invalid value: 101',
        )
        expect(
          await kubectl.fails('create -f -', { input: widget('bad', { namespace, spec: '{weight: 1}' }) }),
        ).toContain('unknown field "spec.weight"')
      })
    },
  )
})
