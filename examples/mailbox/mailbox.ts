import * as z from 'zod'
import {
  createRateBudget,
  defineExternal,
  defineKind,
  externalStatus,
  type Controller,
  type ExternalApi,
} from 'setpoint'

export const Mailbox = defineKind({
  group: 'example.dev',
  version: 'v1',
  kind: 'Mailbox',
  spec: z.object({ address: z.email(), quotaMb: z.number().int().default(500) }),
  status: externalStatus.extend({ webmail: z.string().optional() }),
})

/** The mail provider's API as this program sees it; each call throws HttpError for an answer that is no success. */
export interface MailApi {
  call(request: string, body?: object): Promise<Record<string, string | number>>
}

const mailboxes: ExternalApi<MailApi> = {
  get: (api, id) => api.call(`GET /mailboxes/${id}`),
  find: (api, { uid }) => api.call(`GET /mailboxes/by-owner/${uid}`),
  create: (api, declared) => api.call('POST /mailboxes', declared),
  update: (api, id, declared) => api.call(`PATCH /mailboxes/${id}`, declared),
  delete: async (api, id) => void (await api.call(`DELETE /mailboxes/${id}`)),
  idOf: ({ id }) => String(id),
  ownerOf: ({ owner }) => (owner === undefined ? undefined : String(owner)),
  markedIn: ['owner'],
  immutable: ['address'],
}

export function mailboxReconciler(api: MailApi): Controller {
  const budget = createRateBudget({ perSecond: 5, burst: 20 })
  return defineExternal(Mailbox, {
    connect: async () => api,
    declared: ({ spec }, { owner }) => ({ address: spec.address, quotaMb: spec.quotaMb, owner: owner.uid }),
    api: mailboxes,
    shown: ({ id }) => ({ webmail: `https://mail.example/${String(id)}` }),
    syncPeriod: '5m',
    budget: () => budget,
  })
}
