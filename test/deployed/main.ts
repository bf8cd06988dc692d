/**
 * `npm run deployed`: deploys the stack of the project, and one of the packed packages, into MiniStack from PyPI, and
 * uses both with kubectl to their ends. Prints each step. Exits 1 if one fails, or if the emulator no longer needs one
 * of the adaptations that it is spared by; and skips, with the reason, where kubectl or PyPI is missing. After half an
 * hour (`--within SECONDS`) it gives up what it is at, ends what it has started, and fails. `--only shipped` or
 * `--only own` does one of the two; `--keep FILE` keeps what the emulator said. `SETPOINT_AWS=eu-west-1 npm run
 * deployed` does the same in an account, with the credentials of the AWS command line and the templates as they are,
 * but for the steps that need our own Konnect; it takes its stacks away again, and leaves what `cdk bootstrap` makes.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { optionsOf, wholeNumber } from '../support/command-line.ts'
import { findKubectls, noKubectl } from '../support/kubectl.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { openAccount, type Account } from './account.ts'
import { cleanUp, openAws, questions, rehearseAccount } from './in-aws.ts'
import { fetchMinistack, ministackVersion, startMinistack } from './ministack.ts'
import { bootstrap } from './plane.ts'
import { deployOwn, runOwn } from './own.ts'
import { runShipped } from './shipped.ts'
import { limitSteps, step } from './steps.ts'

const { values } = optionsOf('npm run deployed --', {
  options: {
    keep: { type: 'string', default: '' },
    only: { type: 'string', default: '' },
    within: { type: 'string', default: '1800' },
  },
})
const within = wholeNumber('--within', values.within, 1)

const awsRegion = process.env['SETPOINT_AWS'] ?? ''

async function whyNot(): Promise<string | undefined> {
  if ((await findKubectls()).length === 0) return noKubectl
  if (awsRegion !== '') return undefined
  try {
    await fetchMinistack()
  } catch (error) {
    return `no MiniStack: ${String(error)}`
  }
  return undefined
}

/** `ahead` goes on while the stack of the project is used. */
async function runBoth(account: Account, directory: string, ahead?: Promise<void>): Promise<void> {
  await step('cdk bootstrap', () => bootstrap(account, directory))
  const deploying = values.only === 'shipped' ? undefined : deployOwn(account, directory)
  // Whoever awaits it hears of it, and a failure of the other one comes first.
  deploying?.catch(() => {})
  if (values.only !== 'own') await runShipped(account, directory)
  await ahead
  if (deploying !== undefined) await runOwn(account, directory, await deploying)
}

async function runInAws(directory: string): Promise<void> {
  const account = await step('finds out whose account it is', () => openAws(awsRegion))
  try {
    await runBoth(account, directory)
  } finally {
    limitSteps()
    await step('takes away what is left', () => cleanUp(account, ['Setpoint-deployed', 'Own']))
  }
  console.log(`Only an account answers:\n${questions.map((question) => `- ${question}`).join('\n')}`)
}

async function run(directory: string): Promise<void> {
  mkdirSync(join(directory, 'bin'))
  process.env['PATH'] = `${join(directory, 'bin')}:${process.env['PATH'] ?? ''}`
  await using ministack = await startMinistack(directory)
  try {
    const account = await step('opens an account with two roles', () => openAccount(ministack, directory))
    const rehearsing = step('finds out who it is, and cleans up, as in an account', () => rehearseAccount(account))
    rehearsing.catch(() => {})
    await runBoth(account, directory, rehearsing)
  } finally {
    if (values.keep !== '') writeFileSync(values.keep, ministack.log())
  }
}

const startMs = performance.now()
const reason = await whyNot()
if (reason !== undefined) {
  console.log(`deployed: skipped: ${reason}`)
  process.exit(0)
}
using directory = temporaryDirectory('deployed')
console.log(awsRegion === '' ? `MiniStack ${ministackVersion}, with policies enforced, over TLS` : `AWS, ${awsRegion}`)
let failed = false
limitSteps(within)
try {
  await (awsRegion === '' ? run(directory.path) : runInAws(directory.path))
} catch (error) {
  failed = true
  console.error(error instanceof Error ? error.message : error)
}
const seconds = Math.round((performance.now() - startMs) / 1_000)
console.log(`deployed: ${failed ? 'FAILED' : 'passed'} in ${seconds} s`)
process.exit(failed ? 1 : 0)
