import type { PlantedBug } from './planted-bugs.ts'

const external = 'shared/reconciler/external'

/** What somebody could do wrong in versions, hooks, policies, quotas, and in what helpers make reconcilers of. */
export const plantedInRules: readonly PlantedBug[] = [
  {
    bug: 'what the older version does not show is lost with a write through it',
    file: 'shared/resources/stored-version.ts',
    find: 'live === undefined ? to : merge(conversion, live, to)',
    replace: 'to',
  },
  {
    bug: 'the older version shows the status as it is stored',
    file: 'shared/reconciler/define-kind.ts',
    find: 'sharesStatus: status === undefined',
    replace: 'sharesStatus: true',
  },
  {
    bug: 'what is stored in the older version is not stored anew',
    file: 'shared/resources/converted-reads.ts',
    find: '    outdated.add(object)\n',
    replace: '',
  },
  {
    bug: 'the code before takes what the next version of it has stored for its own',
    file: 'shared/resources/converted-reads.ts',
    find: 'const { group } = parseApiVersion(stored.object.apiVersion)\n  const conversion',
    replace:
      "const { group, version } = parseApiVersion(stored.object.apiVersion)\n  if (version === 'v1') return stored\n  const conversion",
  },
  {
    bug: 'what a hook refuses is stored',
    file: 'shared/resources/run-hooks.ts',
    find: '      refuse(kind, object.metadata.name, problems)\n',
    replace: '',
  },
  {
    bug: 'an update is not completed by its hook',
    file: 'shared/resources/hooked-writes.ts',
    find: 'const completed = await hooks.complete(object)',
    replace: 'const completed = live === undefined ? await hooks.complete(object) : object',
  },
  {
    bug: 'a deletion is not asked of its hook',
    file: 'shared/resources/hooked-writes.ts',
    find: "  await createHookRun(kind, requestOf('DELETE', how), clock).check(object)\n",
    replace: '',
  },
  {
    bug: 'policies are read once by a process',
    file: 'shared/resources/admission-configuration.ts',
    find: 'readConfiguration(store, clock), clock, maxAgeMs })',
    replace: 'readConfiguration(store, clock), clock, maxAgeMs: Infinity })',
  },
  {
    bug: 'a process does not notice the policies that it writes',
    file: 'shared/resources/admission-configuration.ts',
    find: 'concerns(stored) ? write.finally(kept.forget) : write',
    replace: 'write',
    engine: 'local',
  },
  {
    bug: 'a binding that warns refuses',
    file: 'shared/resources/stored-policies.ts',
    find: "isMisconfigured || binding.spec.validationActions.includes('Deny')",
    replace: "isMisconfigured || !binding.spec.validationActions.includes('Audit')",
  },
  {
    bug: 'a webhook that gives no answer lets all pass',
    file: 'shared/resources/call-webhooks.ts',
    find: "if (spec.failurePolicy === 'Ignore') return undefined",
    replace: "if (spec.failurePolicy !== 'Other') return undefined",
  },
  {
    bug: 'an answer of a webhook to another question counts',
    file: 'shared/model/admission-review.ts',
    find: 'if (uid !== question.uid)',
    replace: "if (uid === '')",
    engine: 'local',
    part: 'Guard',
  },
  {
    bug: 'a webhook that may be left out has to answer',
    file: 'shared/resources/call-webhooks.ts',
    find: "if (spec.failurePolicy === 'Ignore') return undefined",
    replace: "if (spec.failurePolicy === 'Other') return undefined",
  },
  {
    bug: 'what a webhook makes of an object is taken back by the policies',
    file: 'shared/resources/run-mutations.ts',
    find: '{ ...start, ...objectOf(hooks.object) }, around, policies.again',
    replace: '{ ...start, ...objectOf(policies.object) }, around, policies.again',
  },
  {
    bug: 'a mutating policy makes nothing of changes',
    file: 'shared/resources/run-mutations.ts',
    find: 'const isIdle = object === undefined ||',
    replace: 'const isIdle = object === undefined || asked.old !== undefined ||',
  },
  {
    bug: 'one more is taken than a quota says',
    file: 'shared/resources/quota-usage.ts',
    find: '(used.get(name) ?? 0) + 1 > (limits',
    replace: '(used.get(name) ?? 0) > (limits',
  },
  {
    bug: 'a count forgets what is being made',
    file: 'shared/resources/quota-usage.ts',
    find: 'used.set(name, total + more)',
    replace: 'used.set(name, total)',
  },
  {
    bug: 'a removal is not taken off a quota',
    file: 'shared/resources/stored-quotas.ts',
    find: "if (namespace !== '') await this.#noteRemoval(removed.object, namespace)",
    replace: "if (namespace === '') await this.#noteRemoval(removed.object, namespace)",
  },
  {
    bug: 'nobody is told that a quota is to be counted',
    file: 'shared/resources/stored-quotas.ts',
    find: "...(isCountAsked ? ['timer' as const] : []),",
    replace: '',
  },
  {
    bug: 'an entity whose creation was not answered is left behind',
    file: `${external}/decide.ts`,
    find: "if (id === undefined && intent === undefined) return { do: 'release' }",
    replace: "if (id === undefined) return { do: 'release' }",
    part: 'Parcel',
  },
  {
    bug: 'what differs outside is left so',
    file: `${external}/decide.ts`,
    find: 'if (isChanged || isRequested || abilities.assertsAlways || differs.length > 0)',
    replace: 'if (isRequested)',
  },
  {
    bug: 'what has to be there first is not looked for',
    file: `${external}/run-external.ts`,
    find: 'if (found.invalid.length > 0) return',
    replace: 'if (found.invalid.length > 99) return',
  },
  {
    bug: 'a budget is not asked',
    file: `${external}/calls.ts`,
    find: 'isCall && budget !== undefined ? await',
    replace: 'isCall && budget !== undefined && ctx === undefined ? await',
  },
  {
    bug: 'what is to be adopted is made once more',
    file: `${external}/decide.ts`,
    find: 'return adoption?.id === memory.lostId ? undefined : adoption',
    replace: 'return adoption?.id === memory.lostId ? adoption : undefined',
  },
  {
    bug: 'what is told of an entity is kept once',
    file: `${external}/run-external.ts`,
    find: 'const kept = await keepOutputs(outputs, object, { entity, ctx, noteKept })',
    replace: 'const kept = run.memory.outputs ?? (await keepOutputs(outputs, object, { entity, ctx, noteKept }))',
  },
  {
    bug: 'the end of a clean-up removes the finalizers of others too',
    file: 'shared/engine/state/begun-state.ts',
    find: 'const left = finalizers.filter((name) => name !== finalizer)',
    replace: "const left = finalizers.filter((name) => name === '')",
    part: 'hold',
  },
  {
    bug: 'what was to stay outside is taken away',
    file: 'shared/reconciler/deletion-policy.ts',
    find: "if (deletionPolicyOf(object, policy) === 'Delete') return",
    replace: 'if (deletionPolicyOf(object, policy) !== undefined) return',
  },
  {
    bug: 'an object has no resync period of its own',
    file: 'shared/engine/state/next-wait.ts',
    find: 'const periodMs = ownResyncMs(object) ?? 0',
    replace: 'const periodMs = (ownResyncMs(object) ?? 0) * 0',
  },
  {
    bug: 'a part of a workflow stays when it is not wanted any more',
    file: 'shared/reconciler/workflow/plan.ts',
    find: "const stays = wish === 'wanted' && !dependenciesOf(name).some(isOut)",
    replace: "const stays = wish !== 'unknown' && !dependenciesOf(name).some(isOut)",
  },
  {
    bug: 'a change wakes an object that refers to others before the relay has noted to whom',
    file: 'shared/engine/wake/direct-wake.ts',
    find: 'references.length === 0 && debounceMs === 0',
    replace: 'references.length >= 0 && debounceMs === 0',
    part: 'Link',
  },
]
