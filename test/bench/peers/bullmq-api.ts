/** As much of BullMQ as is used here; the package need not be there to check the types. */
export interface BullMq {
  readonly Queue: new (name: string, options: Connected) => BullMqQueue
  readonly QueueEvents: new (name: string, options: Connected) => BullMqEvents
  readonly Worker: new (
    name: string,
    run: (job: { readonly data: { readonly key: string; readonly text: string } }) => Promise<unknown>,
    options: Connected & { readonly concurrency: number },
  ) => { waitUntilReady(): Promise<unknown> }
}

interface Connected {
  readonly connection: { readonly host: string; readonly port: number }
}

export interface BullMqQueue {
  add(
    name: string,
    data: object,
    options: { readonly jobId: string; readonly removeOnComplete: boolean },
  ): Promise<unknown>
  close(): Promise<void>
}

interface BullMqEvents {
  on(event: 'completed', listener: (told: { readonly jobId: string }) => void): unknown
  waitUntilReady(): Promise<unknown>
  close(): Promise<void>
}
