import { Duration } from 'aws-cdk-lib'
import { apiTimeout } from './control-api.ts'
import type { ControlFunction, ControlFunctionProps, FunctionDefaults } from './control-function.ts'
import type { ObjectAccess } from './object-access.ts'
import { removalTimeout } from './removal-guard.ts'
import { deadLetterTimeout } from './work-queue.ts'

/** The functions of a control plane that belong to no controller. */
export interface PlaneFunctions {
  readonly api: ControlFunction
  readonly authorizer: ControlFunction
  readonly relay: ControlFunction
  readonly resync: ControlFunction
  readonly deadLetters: ControlFunction
  /** Runs the control plane's own loops (namespaces, definitions, garbage, events, fan-outs), and most reconcilers. */
  readonly system: ControlFunction
  /** Tells CloudFormation whether controllers may go. */
  readonly removal: ControlFunction
}

/** What one function is, beyond what all of them have in common. */
export interface FunctionProps extends Omit<ControlFunctionProps, keyof FunctionDefaults> {
  /** @default - none */
  readonly access?: ObjectAccess
}

export const systemTimeout = Duration.seconds(75)

/** What most functions get by with. */
const modest = { memorySize: 512, timeout: Duration.seconds(30) }

/** What any write may take, with the entries for owners and references that go with it. */
const readAndWrite = ['GetItem', 'Query', 'PutItem', 'UpdateItem', 'DeleteItem'] as const

/** Runs control loops, a controller's or the control plane's own. */
export const loopRunner = { handler: 'reconcile', access: { actions: readAndWrite, indexes: [] } } as const

/** `test/infra/permissions.long.test.ts` holds the access of each against what it really asks. */
export const planeFunctions = {
  api: {
    handler: 'api',
    description: 'Answers kubectl',
    timeout: apiTimeout,
    memorySize: 1024,
    // A watch reads what changed, and the page of timers what is due.
    access: { actions: [...readAndWrite, 'BatchGetItem'], indexes: ['feed', 'due'] },
  },
  authorizer: {
    ...modest,
    handler: 'authorizer',
    description: 'Says who a token is of, and whether they may',
  },
  relay: {
    ...modest,
    handler: 'relay',
    description: 'Wakes who cares about a change',
    // It waits for what is away.
    timeout: Duration.seconds(60),
    access: { actions: [...readAndWrite, 'BatchWriteItem'], indexes: [] },
  },
  resync: {
    ...modest,
    handler: 'resync',
    description: 'The tick of each minute: timers that are due, and the resync',
    timeout: Duration.seconds(55),
    // It waits more than it works.
    memorySize: 256,
    access: {
      actions: [...readAndWrite, 'BatchWriteItem'],
      indexes: ['feed', 'due', 'wheel'],
    },
  },
  deadLetters: {
    ...modest,
    handler: 'deadletter',
    description: 'Marks objects whose runs do not end',
    timeout: deadLetterTimeout,
    access: { actions: ['GetItem', 'Query', 'PutItem', 'UpdateItem'], indexes: [] },
  },
  removal: {
    ...modest,
    handler: 'removal',
    description: 'Tells CloudFormation whether controllers may go',
    timeout: removalTimeout,
    access: { actions: ['Query'], indexes: [] },
  },
  system: {
    ...modest,
    ...loopRunner,
    description: "Runs the control plane's own loops, and the reconcilers that are not isolated",
    timeout: systemTimeout,
  },
} as const satisfies Readonly<Record<keyof PlaneFunctions, Omit<FunctionProps, 'reconcilers' | 'environment'>>>
