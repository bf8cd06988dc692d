import { describe, expect, it } from 'vitest'
import { findKubectls, noKubectl } from '../support/kubectl.ts'
import { widgetSession } from './widget-session.ts'
import { manifests, widget } from './widgets.ts'
import { underLoad } from '../support/under-load.ts'

const [newest] = await findKubectls()

describe.skipIf(newest === undefined)('kubectl waits', { meta: { skipped: noKubectl }, concurrent: true }, () => {
  const { kubectl } = widgetSession(newest)

  const setStatus = (name: string, status: string): Promise<string> =>
    kubectl.ok(`patch wd ${name} --subresource=status --type=merge -p '{"status":${status}}'`)
  const ready = (status: string): string => `{"conditions":[{"type":"Ready","status":"${status}"}]}`

  describe('with get -w', () => {
    it('prints what is there and then what happens', async () => {
      await kubectl.apply(widget('seen', { labels: '{set: watched}' }))
      const watch = await kubectl.start('get wd -l set=watched -w')
      await watch.says(/^NAME +SIZE +READY +AGE\nseen +1 +\d+s\n/)
      await kubectl.apply(widget('new', { labels: '{set: watched}', spec: '{size: 4}' }))
      await watch.says(/\nnew +4 +\d+s\n/)
      await kubectl.ok(`patch wd seen --type=merge -p '{"spec":{"size":2}}'`)
      await watch.says(/\nseen +2 /)
      await setStatus('seen', ready('True'))
      await watch.says(/\nseen +2 +True /)
      await kubectl.ok('delete wd new')
      await watch.says(/\nnew +4 +\d+s\n[^]*\nnew +4 +\d+s\n/)
      expect(await watch.stop('SIGINT')).toMatchObject({ stderr: '' })
    })

    it('watches one object', async () => {
      await kubectl.apply(manifests(widget('only'), widget('other')))
      const watch = await kubectl.start('get wd only -w -o name')
      await watch.says(/only\n/)
      await kubectl.ok(`patch wd other --type=merge -p '{"spec":{"size":2}}'`)
      await kubectl.ok(`patch wd only --type=merge -p '{"spec":{"size":2}}'`)
      await watch.says(/only\n[^]*only\n/)
      expect((await watch.stop('SIGINT')).stdout).not.toContain('other')
    })

    it('tells the kind of each event, in every namespace', async () => {
      await kubectl.ok('create ns far')
      const watch = await kubectl.start('get wd -A -l set=told -w --output-watch-events')
      await kubectl.apply(widget('told', { namespace: 'far', labels: '{set: told}' }))
      await watch.says(/ADDED +far +told /)
      await kubectl.ok('label wd told -n far set-')
      await watch.says(/DELETED +far +told /)
      expect(await watch.stop('SIGINT')).toMatchObject({ stderr: '' })
    })

    it('prints only what is to come', async () => {
      // In a namespace of its own: what others change between the list and the watch may be told, as gone.
      await kubectl.ok('create ns quiet')
      await kubectl.apply(widget('old', { namespace: 'quiet', labels: '{set: later}' }))
      const watch = await kubectl.start('get wd -n quiet -l set=later --watch-only -o name')
      await kubectl.ok('get --raw /healthz')
      await kubectl.apply(widget('later', { namespace: 'quiet', labels: '{set: later}' }))
      await watch.says(/later\n/)
      expect((await watch.stop('SIGINT')).stdout).toBe('widget.test.setpoint.dev/later\n')
    })
  })

  describe('for a condition', () => {
    it('that holds already', async () => {
      await kubectl.apply(widget('is'))
      await setStatus('is', ready('True'))
      expect(await kubectl.ok('wait --for=condition=Ready wd/is --timeout=60s')).toContain('is condition met')
    })

    it('that comes', async () => {
      await kubectl.apply(widget('becomes'))
      await setStatus('becomes', ready('False'))
      const waiting = kubectl.run('wait --for=condition=Ready wd/becomes --timeout=60s')
      await expect(kubectl.ok('wait --for=condition=Ready=false wd/becomes')).resolves.toContain('condition met')
      await setStatus('becomes', ready('True'))
      expect(await waiting).toMatchObject({ code: 0, stdout: expect.stringContaining('condition met') })
    })

    it('no longer than told', async () => {
      await kubectl.apply(widget('never'))
      const start = performance.now()
      expect(await kubectl.fails('wait --for=condition=Ready wd/never --timeout=1s')).toContain(
        'timed out waiting for the condition on widgets/never',
      )
      expect(performance.now() - start).toBeLessThan(underLoad(3_000))
    })

    it('on all of a label', async () => {
      await kubectl.apply(
        manifests(widget('all-a', { labels: '{set: all}' }), widget('all-b', { labels: '{set: all}' })),
      )
      const waiting = kubectl.run('wait --for=condition=Ready wd -l set=all --timeout=60s')
      await setStatus('all-b', ready('True'))
      await setStatus('all-a', ready('True'))
      expect((await waiting).stdout.match(/condition met/g)).toHaveLength(2)
    })
  })

  describe('for a value', () => {
    it('that comes', async () => {
      await kubectl.apply(widget('valued'))
      const waiting = kubectl.run("wait --for=jsonpath='{.status.phase}'=Done wd/valued --timeout=60s")
      await setStatus('valued', '{"phase":"Begun"}')
      await setStatus('valued', '{"phase":"Done"}')
      expect(await waiting).toMatchObject({ code: 0, stdout: expect.stringContaining('condition met') })
    })

    it('of any kind', async () => {
      await kubectl.apply(widget('any'))
      const waiting = kubectl.run("wait --for=jsonpath='{.status.phase}' wd/any --timeout=60s")
      await setStatus('any', '{"phase":"Something"}')
      expect(await waiting).toMatchObject({ code: 0 })
    })
  })

  it('for an object to be there', async () => {
    const waiting = kubectl.run('wait --for=create wd/expected --timeout=60s')
    await kubectl.apply(widget('expected'))
    expect(await waiting).toMatchObject({ code: 0, stdout: expect.stringContaining('condition met') })
  })

  it('for an object to be gone, also if it is so already', async () => {
    await kubectl.apply(widget('leaving'))
    const waiting = kubectl.run('wait --for=delete wd/leaving --timeout=60s')
    await kubectl.ok('delete wd leaving')
    expect(await waiting).toMatchObject({ code: 0 })
    expect(await kubectl.run('wait --for=delete wd/leaving --timeout=60s')).toMatchObject({ code: 0 })
  })

  it('by the list that a watch begins with, as kubectl from 1.35 on does', async () => {
    await kubectl.apply(widget('streamed'))
    const env = { KUBE_FEATURE_WatchListClient: 'true' }
    const waiting = kubectl.run("wait --for=jsonpath='{.status.phase}'=Done wd/streamed --timeout=60s", { env })
    await setStatus('streamed', '{"phase":"Done"}')
    expect(await waiting).toMatchObject({ code: 0, stdout: expect.stringContaining('condition met') })
  })
})
