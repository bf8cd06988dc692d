import { createGadgetMaker } from './gadget-maker.ts'
import { loadPeer } from './peer.ts'

/** As much of Restate's SDK as is used here. */
interface Restate {
  object(definition: {
    readonly name: string
    readonly handlers: Readonly<Record<string, (ctx: ObjectContext, gadget: object) => Promise<unknown>>>
  }): unknown
  serve(options: { readonly services: readonly unknown[]; readonly port: number }): Promise<number>
}

interface ObjectContext {
  readonly key: string
  set(name: string, value: unknown): void
}

/** The service's process: `node restate-service.ts <file of the SDK> <port>`. */
const [file = '', port] = process.argv.slice(2)
const restate = loadPeer(file) as Restate
const made = createGadgetMaker()

const gadget = restate.object({
  name: 'Gadget',
  handlers: {
    converge: async (ctx, wanted) => {
      const status = made(ctx.key, JSON.stringify(wanted))
      ctx.set('status', status)
      return status
    },
  },
})
await restate.serve({ services: [gadget], port: Number(port) })
process.send?.('ready')
