import { parseArgs } from 'node:util'
import { OperatingError } from '../../shared/index.ts'
import { openUsers } from '../../shared/runtime/local/users.ts'
import { dataDirectory } from './data-directory.ts'

/** `setpoint token add|rotate|remove NAME`, `setpoint token list`: who may use a control plane on this machine. */
export function runToken(args: readonly string[]): void {
  const options = { ...dataDirectory, groups: { type: 'string' }, out: { type: 'string' } } as const
  const { values, positionals } = parseArgs({ args: [...args], allowPositionals: true, options })
  const [verb = '', name, ...more] = positionals
  const isList = verb === 'list' && name === undefined
  if (more.length > 0 || !(isList || (name !== undefined && ['add', 'rotate', 'remove'].includes(verb))))
    throw new OperatingError('BAD_REQUEST', 'type setpoint token add NAME, rotate NAME, remove NAME, or list')
  refuseIdle(verb, values)
  const users = openUsers(values['data-dir'])
  if (name === undefined) return printUsers(users.list())
  const kubeconfig = values.out ?? `${name.replaceAll('/', '-')}.kubeconfig`
  switch (verb) {
    case 'add':
      users.add(name, (values.groups ?? '').split(',').filter(Boolean), kubeconfig)
      return print(`${kubeconfig} gives ${name} access; ${name} has no rights yet:
  kubectl create rolebinding ${asObjectName(name)} --clusterrole=edit --user=${name}
`)
    case 'rotate':
      users.rotate(name, kubeconfig)
      return print(`${kubeconfig} has a new token of ${name}; the old one is no longer valid\n`)
    default:
      users.remove(name)
      return print(`the token of ${name} is no longer valid\n`)
  }
}

/** Refuses an option that does nothing with this verb: its writer would believe that something was done. */
function refuseIdle(verb: string, { groups, out }: { readonly groups?: string; readonly out?: string }): void {
  if (groups !== undefined && verb !== 'add')
    throw new OperatingError('BAD_REQUEST', `token ${verb} takes no --groups: only token add gives groups`)
  if (out !== undefined && verb !== 'add' && verb !== 'rotate')
    throw new OperatingError('BAD_REQUEST', `token ${verb} takes no --out: it writes no kubeconfig`)
}

function printUsers(users: readonly { readonly name: string; readonly groups: readonly string[] }[]): void {
  if (users.length === 0) print('nobody but the administrator: setpoint token add NAME lets somebody in\n')
  for (const { name, groups } of users) print(`${name}  ${groups.join(',')}\n`)
}

function asObjectName(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z0-9.-]/g, '-')
}

function print(text: string): void {
  process.stdout.write(text)
}
