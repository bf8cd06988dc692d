import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { root } from '../support/control-plane-process.ts'
import { findKubectls, noKubectl } from '../support/kubectl.ts'
import { runProgram } from '../support/program.ts'
import { widgetSession } from './widget-session.ts'

const [newest] = await findKubectls()

/** The recipe of docs/reference.md, line by line. */
const [, recipe = ''] = /^```sh\n(setpoint token add .*?)^```/ms.exec(readFileSync('docs/reference.md', 'utf8')) ?? []

describe.skipIf(newest === undefined)('people of a file', { meta: { skipped: noKubectl } }, () => {
  const { kubectl, kubeconfig, directory } = widgetSession(newest)

  it('share a control plane, each with their own rights', async () => {
    expect(recipe).toContain('setpoint token rotate alice')
    const data = join(directory, 'data')
    const command = `${process.execPath} ${join(root, 'functions/command/main.ts')}`
    const script = recipe.replaceAll(/^setpoint /gm, `${command} `).replace(/^kubectl /m, `${newest?.file} `)
    const env = { ...process.env, KUBECONFIG: kubeconfig, SETPOINT_DATA_DIR: data }
    expect(await runProgram('sh', ['-ec', script], { cwd: directory, env })).toMatchObject({ code: 0 })
    const asAlice = `--kubeconfig=${join(directory, 'alice.kubeconfig')}`
    expect(await kubectl.ok(`auth whoami ${asAlice}`)).toMatch(
      /Username +alice\nGroups +\[developers auditors system:authenticated\]/,
    )
    expect(await kubectl.ok(`create configmap hers ${asAlice}`)).toBe('configmap/hers created\n')
    expect(await kubectl.fails(`create namespace hers ${asAlice}`)).toContain('User "alice" cannot create')
    expect(await kubectl.fails(`get configmaps -n kube-system ${asAlice}`)).toContain('User "alice" cannot list')
    const token = /token: (\S+)/.exec(readFileSync(join(directory, 'alice.kubeconfig'), 'utf8'))?.[1]
    expect(readFileSync(join(data, 'users'), 'utf8')).not.toContain(token)
  })
})
