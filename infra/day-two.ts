#!/usr/bin/env node

/**
 * `setpoint-aws COMMAND`, where `setpoint-cdk` is installed: what may be needed of a control plane that is deployed. It
 * asks the AWS command line, and each command can be repeated.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { askAws, invokeFunction } from './aws-command.ts'
import { checkQuotas, neededIn } from './check-quotas.ts'
import { findResources, redriveDeadLetters, replayChanges } from './redrive.ts'
import { restoreTable } from './restore-table.ts'

const usage = `usage: setpoint-aws COMMAND

  restore-table --stack NAME --at 2026-11-23T04:00:00Z
      restores the objects as they were at that second into a new table, and
      prints the deployment that switches to it
  redrive --stack NAME
      has the relay pass on what it gave up, and gives dead letters back to their
      queues: after a bug or an outage is repaired
  quotas [cdk.out]
      asks whether the account lets as many functions run at once as the
      synthesized stacks may need; exit code 1 if not

They need the AWS command line and its credentials.`

interface Given {
  readonly stack: string
  readonly at: string
  readonly directory: string
}

/** The exit code of what is no command. */
const misused = 2

/** Each ends with an exit code. */
const commands: Readonly<Record<string, (given: Given) => Promise<number> | number>> = {
  'restore-table': async ({ stack, at }) => {
    if (stack === '' || !/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/.test(at)) return misused
    let seconds = 1
    const pause = (): Promise<unknown> => sleep(Math.min(20, (seconds *= 2)) * 1_000)
    const command = await restoreTable({ stack, at, aws: askAws, say: console.log, pause })
    console.log(`The table is ready. Switch to it:\n\n  ${command} (with the other -c of this stack)\n`)
    return 0
  },

  redrive: ({ stack }) => {
    if (stack === '') return misused
    const invoke = (name: string, event: unknown): unknown => invokeFunction(askAws, name, event)
    const redrive = { find: findResources({ stack, aws: askAws }), aws: askAws, invoke, say: console.log }
    replayChanges(redrive)
    redriveDeadLetters(redrive)
    return 0
  },

  quotas: ({ directory }) => {
    const { isEnough, said } = checkQuotas(neededIn(directory), askAws)
    console.log(said)
    return isEnough ? 0 : 1
  },
}

async function run(): Promise<number> {
  const { values, positionals } = parseArgs({
    options: { stack: { type: 'string' }, at: { type: 'string' }, help: { type: 'boolean' } },
    allowPositionals: true,
  })
  if (values.help === true) {
    console.log(usage)
    return 0
  }
  const [name = '', directory = 'cdk.out'] = positionals
  return commands[name]?.({ stack: values.stack ?? '', at: values.at ?? '', directory }) ?? misused
}

try {
  process.exitCode = await run()
  if (process.exitCode === misused) console.error(usage)
} catch (error) {
  // One line: what AWS or its command line refuses with.
  console.error(`setpoint-aws: ${(error as Error).message}`)
  process.exitCode = 1
}
