import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { installBasics } from '../../../../shared/engine/loops/install-basics.ts'
import { ConfigMap, defineKind } from '../../../../shared/index.ts'
import { OperatingError, type ErrorCode } from '../../../../shared/model/errors.ts'
import type { Controller } from '../../../../shared/reconciler/controller.ts'
import { widgets } from '../../../acceptance/support/widgets.ts'

const gadget = defineKind({ group: 'test.setpoint.dev', version: 'v1', kind: 'Gadget', spec: z.object({}) })
const controllers = [widgets([]), { ...widgets([]), name: 'gadget', kind: gadget }, { ...widgets([]), kind: ConfigMap }]
const [widgetName, gadgetName] = ['widgets.test.setpoint.dev', 'gadgets.test.setpoint.dev']

interface Given {
  /** How the calls of these fail. */
  readonly fails?: Readonly<Record<string, ErrorCode>>
  readonly isTold?: boolean
}

/** What is written, and what is told of refusals. */
async function install({ fails = {}, isTold = false }: Given = {}) {
  const did: string[] = []
  const told: string[] = []
  const write = async (what: string): Promise<void> => {
    const code = fails[what]
    if (code !== undefined) throw new OperatingError(code, `no ${what}`)
    did.push(what)
  }
  const resources = {
    get: () => Promise.reject(new OperatingError('NOT_FOUND', 'no account')),
    create: (kind: { kind: string }, body: { metadata: { name: string } }, { manager }: { manager: string }) =>
      write(`${kind.kind} ${body.metadata.name} ${manager}`),
    patch: (
      _kind: object,
      { name }: { name: string },
      patch: { type: string; force: boolean },
      options: { manager: string },
    ) => write(`${name} ${patch.type} ${patch.force} ${options.manager}`),
  }
  const ended = await installBasics({
    resources: resources as never,
    catalog: {} as never,
    controllers: controllers as unknown as readonly Controller[],
    ...(isTold && { onRefused: ({ metadata }, error) => void told.push(`${metadata.name}: ${error.message}`) }),
  }).then(
    () => 'done',
    (error: unknown) => (error as Error).message,
  )
  return { did, told, ended }
}

const namespace = 'Namespace default setpoint'
const account = 'ServiceAccount default setpoint'
const applied = (name: string): string => `${name} apply true setpoint`
const all = [namespace, account, applied(widgetName), applied(gadgetName)]

describe('what is there from the first moment', () => {
  it('is the default namespace with its account, and the definitions', async () => {
    expect(await install()).toEqual({ did: all, told: [], ended: 'done' })
  })

  it('may be there already', async () => {
    expect(await install({ fails: { [namespace]: 'ALREADY_EXISTS' } })).toMatchObject({
      did: all.slice(1),
      ended: 'done',
    })
  })

  it.each([namespace, account, applied(widgetName)])('is not complete while %s cannot be written', async (what) => {
    const { did, ended } = await install({ fails: { [what]: 'UNAVAILABLE' }, isTold: true })
    expect([did, ended]).toEqual([all.slice(0, all.indexOf(what)), `no ${what}`])
  })

  it.each(['FORBIDDEN', 'DAMAGED'] as const)('is all but an account that is not to be made: %s', async (code) => {
    const did = all.filter((one) => one !== account)
    expect(await install({ fails: { [account]: code } })).toEqual({ did, told: [], ended: 'done' })
  })

  it.each([
    ['is refused', 'INVALID'],
    ['has no room left', 'TOO_LARGE'],
    ['is damaged', 'DAMAGED'],
  ] as const)('is all but a definition that %s, and then says so', async (_what, code) => {
    const refused = applied(widgetName)
    const did = all.filter((one) => one !== refused)
    const fails = { [refused]: code }
    expect(await install({ fails })).toEqual({ did, told: [], ended: `no ${refused}` })
    expect(await install({ fails, isTold: true })).toEqual({
      did,
      told: [`${widgetName}: no ${refused}`],
      ended: 'done',
    })
  })

  it('says the first of two refusals', async () => {
    const fails = { [applied(widgetName)]: 'INVALID', [applied(gadgetName)]: 'INVALID' } as const
    expect((await install({ fails })).ended).toBe(`no ${applied(widgetName)}`)
    expect(await install({ fails, isTold: true })).toEqual({
      did: all.slice(0, 2),
      told: [`${widgetName}: no ${applied(widgetName)}`, `${gadgetName}: no ${applied(gadgetName)}`],
      ended: 'done',
    })
  })
})
