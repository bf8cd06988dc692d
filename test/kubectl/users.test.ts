import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { findKubectls, noKubectl } from '../support/kubectl.ts'
import { runProgram } from '../support/program.ts'
import { widgetSession } from './widget-session.ts'

const [newest] = await findKubectls()

/** The recipe of docs/reference.md, line by line. */
const [, recipe = ''] =
  /^```sh\n(umask 077 && openssl rand .*?)^```/ms.exec(readFileSync('docs/reference.md', 'utf8')) ?? []

describe.skipIf(newest === undefined)('people of a file', { meta: { skipped: noKubectl }, timeout: 120_000 }, () => {
  const { kubectl, kubeconfig, directory } = widgetSession(newest)

  it('share a control plane, each with their own rights', async () => {
    expect(recipe).toContain('.setpoint/users')
    const data = join(directory, 'data')
    const script = recipe.replaceAll('.setpoint/', `${data}/`).replace(/^kubectl /m, `${newest?.file} `)
    const env = { ...process.env, KUBECONFIG: kubeconfig }
    expect(await runProgram('sh', ['-ec', script], { cwd: directory, env })).toMatchObject({ code: 0 })
    const asAlice = `--kubeconfig=${join(directory, 'alice.kubeconfig')}`
    expect(await kubectl.ok(`auth whoami ${asAlice}`)).toMatch(
      /Username +alice\nGroups +\[developers auditors system:authenticated\]/,
    )
    expect(await kubectl.ok(`create configmap hers ${asAlice}`)).toBe('configmap/hers created\n')
    expect(await kubectl.fails(`create namespace hers ${asAlice}`)).toContain('User "alice" cannot create')
    expect(await kubectl.fails(`get configmaps -n kube-system ${asAlice}`)).toContain('User "alice" cannot list')
    expect(readFileSync(join(data, 'users'), 'utf8')).not.toContain(
      readFileSync(join(directory, 'alice.token'), 'utf8').trim(),
    )
  })
})
