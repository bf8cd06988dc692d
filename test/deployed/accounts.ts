import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../support/control-plane-process.ts'
import { runShell, type Account } from './account.ts'
import type { Plane } from './plane.ts'
import { expect, step, until } from './steps.ts'

/** ServiceAccounts with tokens of the control plane's own, whose keys are on AWS. */
export async function useAccounts({ kubectl }: Plane): Promise<void> {
  await step('lets a token of a ServiceAccount do what a binding says', async () => {
    await kubectl.ok('create serviceaccount robot')
    await signInAs('robot', kubectl)
    const { code, stderr } = await kubectl.run('get configmaps --user=robot')
    expect(code !== 0 && /serviceaccount:default:robot" cannot list resource "configmaps"/.test(stderr), stderr)
    await kubectl.ok('create rolebinding robot --clusterrole=view --serviceaccount=default:robot')
    await kubectl.ok('get configmaps --user=robot')
    const { stderr: refused } = await kubectl.run('create configmap by-robot --user=robot')
    expect(/serviceaccount:default:robot" cannot create resource "configmaps"/.test(refused), refused)
    const said = await kubectl.ok('auth whoami --user=robot')
    expect(said.includes('system:serviceaccount:default:robot'), said)
  })
  await step('takes no token that is for others, and none that was changed', async () => {
    const other = (await kubectl.ok('create token robot --audience=vault')).trim()
    const [head = '', claims = ''] = (await kubectl.ok('create token robot')).trim().split('.')
    for (const token of [other, `${head}.${claims}.${'A'.repeat(86)}`]) {
      await kubectl.ok(`config set-credentials nobody --token=${token}`)
      const { code, stderr } = await kubectl.run('get configmaps --user=nobody')
      expect(code !== 0 && /Unauthorized|must be logged in/i.test(stderr), stderr)
    }
  })
  await step('ends a token with its ServiceAccount, at once', async () => {
    await kubectl.ok('create serviceaccount leaver')
    await signInAs('leaver', kubectl)
    await kubectl.ok('auth whoami --user=leaver')
    await kubectl.ok('delete serviceaccount leaver')
    const { code, stderr } = await kubectl.run('auth whoami --user=leaver')
    expect(code !== 0 && /Unauthorized|must be logged in/i.test(stderr), stderr)
  })
}

/** By the lines of docs/aws.md. */
export async function endAllTokens(account: Account, { stack }: Plane): Promise<void> {
  await step('takes the keys of all tokens away', async () => {
    const docs = readFileSync(join(root, 'docs/aws.md'), 'utf8')
    const lines = /^stack=.*\n(tables=.*TokenKeys[^]*?)^```$/m.exec(docs)?.[1] ?? ''
    const { code, stdout, stderr } = await runShell(account, `stack=${stack}\n${lines}`)
    expect(lines !== '' && code === 0, stdout + stderr)
  })
}

export async function tokensHaveEnded({ kubectl }: Plane): Promise<void> {
  await step('takes no token of those keys a minute later, and makes others', async () => {
    await until(
      () => kubectl.run('auth whoami --user=robot'),
      ({ code, stderr }) => code !== 0 && /Unauthorized|must be logged in/i.test(stderr),
    )
    await signInAs('robot', kubectl)
    await kubectl.ok('get configmaps --user=robot')
  })
}

async function signInAs(account: string, kubectl: Plane['kubectl']): Promise<void> {
  const token = (await kubectl.ok(`create token ${account}`)).trim()
  await kubectl.ok(`config set-credentials ${account} --token=${token}`)
}
