import { HttpError, type Controller } from 'setpoint'
import { mailboxReconciler, type MailApi } from './mailbox.ts'

type Mailbox = Record<string, string | number>

/** A mail provider in memory, in the place of a real one: it forgets its mailboxes with the process. */
function createMailApi(): MailApi {
  const boxes = new Map<string, Mailbox>()
  const found = (box: Mailbox | undefined): Mailbox => {
    if (box === undefined) throw new HttpError(404, 'no such mailbox')
    return box
  }
  return {
    call: async (request, body) => {
      const [, method = '', what = ''] = /^(\w+) \/mailboxes\/?(.*)$/.exec(request) ?? []
      const owner = what.replace(/^by-owner\//, '')
      if (what !== owner) return found([...boxes.values()].find((box) => box['owner'] === owner))
      if (method === 'POST') {
        const id = `box-${boxes.size + 1}`
        boxes.set(id, { ...body, id })
        return found(boxes.get(id))
      }
      const box = found(boxes.get(what))
      if (method === 'DELETE') boxes.delete(what)
      return method === 'PATCH' ? Object.assign(box, body) : box
    },
  }
}

export const reconcilers: readonly Controller[] = [mailboxReconciler(createMailApi())]
