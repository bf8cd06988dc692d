#!/usr/bin/env node

/**
 * `setpoint-aws COMMAND`, where `setpoint-cdk` is installed: what may be needed of a control plane that is deployed. It
 * asks the AWS command line, and each command can be repeated.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { askAws, invokeFunction } from './aws-command.ts'
import { checkQuotas, neededIn } from './check-quotas.ts'
import { findResources } from './plane-resources.ts'
import { redriveDeadLetters, replayChanges } from './redrive.ts'
import { restoreTable, switchTable } from './restore-table.ts'

const usage = `usage: setpoint-aws COMMAND

  restore-table --stack NAME --at 2026-11-23T04:00:00Z [--switch] [--from TABLE]
      restores the objects as they were at that second into a new table, and with
      --switch has the control plane use it: what was written since is gone then
  redrive --stack NAME
      has the relay pass on what it gave up, and gives dead letters back to their
      queues: after a bug or an outage is repaired; exit code 1 if it gave
      some up again
  quotas [cdk.out]
      asks whether the account lets as many functions run at once as the
      synthesized stacks may need; exit code 1 if not

They need the AWS command line and its credentials.`

interface Given {
  readonly stack: string
  readonly at: string
  readonly from: string | undefined
  readonly isSwitch: boolean
  readonly directory: string
}

/** The exit code of what is no command. */
const misused = 2

/** Each ends with an exit code. */
const commands: Readonly<Record<string, (given: Given) => Promise<number> | number>> = {
  'restore-table': async ({ stack, at, from, isSwitch }) => {
    if (stack === '' || !/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/.test(at)) return misused
    let seconds = 1
    const pause = (): Promise<unknown> => sleep(Math.min(20, (seconds *= 2)) * 1_000)
    const restore = { stack, at, from, aws: askAws, say: console.log, pause }
    const restored = await restoreTable(restore)
    console.log(`the table is ready: ${restored.table}, with the stream ${restored.stream}`)
    if (isSwitch) switchTable(restore, restored)
    console.log(isSwitch ? 'the control plane uses it' : 'repeat the command with --switch to use it')
    return 0
  },

  redrive: ({ stack }) => {
    if (stack === '') return misused
    const invoke = (name: string, event: unknown): unknown => invokeFunction(askAws, name, event)
    const redrive = { find: findResources({ stack, aws: askAws }), aws: askAws, invoke, say: console.log }
    let code = 0
    replayChanges(redrive, () => (code = 1))
    redriveDeadLetters(redrive)
    return code
  },

  quotas: ({ directory }) => {
    const { isEnough, said } = checkQuotas(neededIn(directory), askAws)
    console.log(said)
    return isEnough ? 0 : 1
  },
}

async function run(): Promise<number> {
  const { values, positionals } = parseArgs({
    options: {
      stack: { type: 'string' },
      at: { type: 'string' },
      from: { type: 'string' },
      switch: { type: 'boolean' },
      help: { type: 'boolean' },
    },
    allowPositionals: true,
  })
  if (values.help === true) {
    console.log(usage)
    return 0
  }
  const [name = '', directory = 'cdk.out'] = positionals
  const { stack = '', at = '', from, switch: isSwitch = false } = values
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined
  return command?.({ stack, at, from, isSwitch, directory }) ?? misused
}

try {
  process.exitCode = await run()
  if (process.exitCode === misused) console.error(usage)
} catch (error) {
  // One line: what AWS or its command line refuses with.
  console.error(`setpoint-aws: ${(error as Error).message}`)
  process.exitCode = 1
}
