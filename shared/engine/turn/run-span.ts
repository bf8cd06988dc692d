import type { StoredObject } from '../../model/stored-object.ts'
import { attemptsOf } from '../../model/engine-state.ts'
import type { SpanEnd, Tracing } from '../../ports/tracing.ts'
import type { Verdict } from '../../reconciler/verdict.ts'

/** The run of an object, with what it writes, in a span below the write of the change that it deals with. */
export function withRunSpan(
  tracing: Tracing,
  { object, engine }: StoredObject,
  controller: string,
  run: () => Promise<Verdict>,
): Promise<Verdict> {
  const { namespace, name, generation } = object.metadata
  const attributes = {
    'setpoint.controller': controller,
    'setpoint.kind': object.kind,
    'setpoint.name': name,
    'setpoint.generation': generation,
    'setpoint.attempt': attemptsOf(engine, generation),
    ...(namespace !== undefined && { 'setpoint.namespace': namespace }),
  }
  const parent = engine.change?.trace ?? 'none'
  return tracing.span({ name: `run ${controller}`, kind: 'consumer', attributes, parent }, run, tellVerdict)
}

function tellVerdict(verdict: Verdict): SpanEnd {
  const attributes = { 'setpoint.outcome': verdict.kind }
  if (verdict.kind !== 'failed' && verdict.kind !== 'stopped') return { attributes }
  return { attributes, error: `${verdict.reason}: ${verdict.message}` }
}
