import { App, Stack } from 'aws-cdk-lib'
import type { Template } from 'aws-cdk-lib/assertions'
import type { Construct } from 'constructs'
import type * as sqs from 'aws-cdk-lib/aws-sqs'
import { join } from 'node:path'
import type { ControlFunction } from '../../../infra/constructs/control-function.ts'
import type { ControlPlaneProps } from '../../../infra/constructs/control-plane.ts'
import { isLong } from '../../support/strength.ts'
import { tokenTables } from '../../support/token-tables.ts'
import { deployed, resourcesOf, type Deployed } from '../synthesized.ts'
import { wiringOf, type Resources, type Wiring } from './wiring.ts'

export const functionNames = [
  'api',
  'authorizer',
  'relay',
  'resync',
  'deadLetters',
  'system',
  'removal',
  'shelf',
  'lamp',
] as const
export type FunctionName = (typeof functionNames)[number]

/** The queues, by the function that each feeds. */
export const queueNames = ['system', 'shelf', 'lamp'] as const
export type QueueName = (typeof queueNames)[number]

/** A template with its assets, as far as it is run here. */
export interface Synthesized {
  readonly tableId: string
  /** The tables with the keys of tokens: their logical ids, and how they are called here. */
  readonly keyTables: ReadonlyMap<string, string>
  readonly resources: Resources
  readonly wiring: Wiring
  /** The logical id of a function, and back. */
  readonly idOf: (name: FunctionName) => string
  readonly nameOf: (id: string) => FunctionName
  readonly queueIds: ReadonlyMap<QueueName, string>
  functionOf(name: FunctionName): {
    readonly directory: string
    readonly environment: Readonly<Record<string, unknown>>
    readonly timeoutMs: number
    readonly memoryMb: number
  }
}

/** Writes the assets of the fixtures' stack into a directory. */
export function synthesize(outdir: string, props: Partial<ControlPlaneProps>): Synthesized {
  const app = new App({ outdir, builtinCloudFormationValidation: isLong })
  const all = deployed(props, { entry: 'test/infra/fixtures/shelves.ts' }, new Stack(app, 'Test'))
  const template = all.template()
  const idOf = (construct: { readonly node: { readonly defaultChild?: unknown } }): string =>
    all.stack.getLogicalId(construct.node.defaultChild as never)
  const names = new Map(functionNames.map((name) => [idOf(functionOf(all, name)), name]))
  return {
    tableId: idOf(ownTable(all)),
    keyTables: new Map([
      [idOf(all.controlPlane.tokenKeys.signing), tokenTables.signingTable],
      [idOf(all.controlPlane.tokenKeys.shown), tokenTables.table],
    ]),
    resources: template.toJSON()['Resources'] as Resources,
    wiring: wiringOf(template.toJSON()['Resources'] as Resources),
    idOf: (name) => idOf(functionOf(all, name)),
    nameOf: (id) => {
      const name = names.get(id)
      if (name === undefined) throw new Error(`${id} is none of the functions that are run here`)
      return name
    },
    queueIds: new Map(queueNames.map((name) => [name, idOf(queueOf(all, name))])),
    functionOf: (name) => ({
      ...codeOf(template, idOf(functionOf(all, name))),
      ...directoryOf(template, idOf(functionOf(all, name)), outdir),
    }),
  }
}

/** Of the stack: the one that is used stands for it, or for a restored one. */
export function ownTable({ controlPlane }: Deployed): Construct {
  return controlPlane.table.node.scope as Construct
}

export function functionOf({ controlPlane, controllers }: Deployed, name: FunctionName): ControlFunction {
  if (name === 'shelf' || name === 'lamp') return controllers[name].function
  return controlPlane.functions[name]
}

export function queueOf({ controlPlane, controllers }: Deployed, name: QueueName): sqs.Queue {
  return (name === 'system' ? controlPlane.systemQueue : controllers[name].queue).queue
}

interface FunctionProperties {
  readonly Code: { readonly S3Key: string }
  readonly Timeout: number
  readonly MemorySize: number
  readonly Environment: { readonly Variables: Readonly<Record<string, unknown>> }
}

function propertiesOf(template: Template, id: string): FunctionProperties {
  return resourcesOf(template, 'AWS::Lambda::Function')[id]?.Properties as unknown as FunctionProperties
}

function codeOf(template: Template, id: string) {
  const { Timeout, MemorySize, Environment } = propertiesOf(template, id)
  return { timeoutMs: Timeout * 1_000, memoryMb: MemorySize, environment: Environment.Variables }
}

function directoryOf(template: Template, id: string, outdir: string) {
  return { directory: join(outdir, `asset.${propertiesOf(template, id).Code.S3Key.replace(/\.zip$/, '')}`) }
}

/** Of CloudFormation's functions, what stands in variables. */
export function resolve(value: unknown, refs: ReadonlyMap<string, string>): string {
  if (typeof value === 'string') return value
  const { Ref: ref, 'Fn::Join': join_ } = value as {
    readonly Ref?: string
    readonly 'Fn::Join'?: readonly [string, readonly unknown[]]
  }
  if (join_ !== undefined) return join_[1].map((part) => resolve(part, refs)).join(join_[0])
  return refs.get(ref ?? '') ?? ref ?? ''
}
