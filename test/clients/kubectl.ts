import { join } from 'node:path'
import { findKubectls, noKubectl } from '../support/kubectl.ts'
import type { Ended } from '../support/program.ts'
import { widget, widgetDefinition } from '../kubectl/widgets.ts'
import type { Client } from './client.ts'
import { runCommands, type Command } from './commands.ts'

/** Each kubectl that is found, with the commands of a day. `npm test -- test/kubectl` looks at what they print. */
export const kubectl: Client = {
  name: 'kubectl',
  version: 'each from 1.28 on',
  fetch: async () => {
    if ((await findKubectls()).length === 0) throw new Error(noKubectl)
  },
  run: async (kubeconfig, directory) => {
    let said = ''
    for (const { file, minor } of await findKubectls()) {
      const args = [`--kubeconfig=${kubeconfig}`, `--cache-dir=${join(directory, String(minor))}`]
      const ended = await runCommands(file, commandsIn(`day-${minor}`), { env: {}, args })
      said += ended.stdout.replaceAll('ok: ', `ok: 1.${minor} `)
      if (ended.code !== 0) return { ...ended, stdout: said }
    }
    return { code: 0, signal: null, stdout: said, stderr: '' } satisfies Ended
  },
}

function commandsIn(namespace: string): readonly Command[] {
  const inside = (line: string, input?: string): Command => command(`-n ${namespace} ${line}`, input)
  const map = (name: string): string =>
    `---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}, namespace: ${namespace}, labels: {set: ${namespace}}}\n`
  const whole = `apiVersion: v1\nkind: Namespace\nmetadata: {name: ${namespace}}\n${map('one')}`
  return [
    command('version'),
    command('api-resources'),
    command('api-versions'),
    command('cluster-info'),
    command('apply -f -', widgetDefinition),
    command('wait --for=condition=Established crd/widgets.test.setpoint.dev --timeout=60s'),
    command('apply -f -', whole),
    inside('apply -f -', widget('w', { namespace, spec: '{size: 1}' })),
    inside('apply --server-side -f -', widget('w', { namespace, spec: '{size: 2}' })),
    inside('get widgets -o wide'),
    inside('get wd w -o yaml'),
    inside('describe wd w'),
    inside('explain widget.spec'),
    inside('label wd w app=a'),
    inside('annotate wd w note=a'),
    inside(`patch wd w --type=merge -p '{"spec":{"size":3}}'`),
    inside(`patch wd w --type=json -p '[{"op":"replace","path":"/spec/size","value":4}]'`),
    inside('scale wd w --replicas=3'),
    inside("wait --for=jsonpath='{.spec.replicas}'=3 wd/w --timeout=60s"),
    inside('create configmap made --from-literal=a=1'),
    inside('create secret generic made --from-literal=a=1'),
    inside(`apply --prune -l set=${namespace} -f -`, map('two')),
    inside('get events'),
    inside('events'),
    inside('get events.events.k8s.io'),
    inside('get leases'),
    inside('get pods'),
    inside('auth can-i create widgets'),
    command('auth whoami'),
    inside('delete wd w --timeout=60s'),
    command('delete -f - --timeout=60s', whole.replace('one', 'two')),
  ]
}

function command(line: string, input?: string): Command {
  return { line, verbose: '-v=8', ...(input === undefined ? {} : { input }) }
}
