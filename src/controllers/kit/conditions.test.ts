import { describe, expect, it } from 'vitest'
import {
  conditionError,
  conditionRequested,
  conditionTrue,
  conditionUnknown,
  conditionWarning,
  firstUnready,
  readyCondition,
  sortConditions,
  stampConditions,
  summarizeConditions,
  worstSeverity,
} from './conditions.ts'

const input = conditionTrue('InputReady', 'Input data complete')
const waiting = conditionRequested('DeploymentReady', 'Deployment in progress')
const warning = conditionWarning('HostsUsable', 'one host has no address')
const failed = conditionError('ServiceReady', 'no address')
const unknown = conditionUnknown('RunReady', 'not started')

describe('readyCondition', () => {
  it('is True with the given message when every condition is True', () => {
    expect(readyCondition([input], firstUnready)).toEqual(conditionTrue('Ready', 'Setup complete'))
    expect(readyCondition([input], worstSeverity, 'all done')).toEqual(conditionTrue('Ready', 'all done'))
  })

  it('repeats the first error before a condition that only waits, under both rules', () => {
    for (const rule of [firstUnready, worstSeverity])
      expect(readyCondition([waiting, failed], rule)).toEqual({ ...failed, type: 'Ready' })
  })

  it('ignores warnings under firstUnready and repeats them under worstSeverity', () => {
    expect(readyCondition([warning], firstUnready).status).toBe('True')
    expect(readyCondition([waiting, warning], worstSeverity)).toEqual({ ...warning, type: 'Ready' })
  })

  it('repeats Unknown last under worstSeverity and in order under firstUnready', () => {
    expect(readyCondition([unknown, waiting], worstSeverity).message).toBe(waiting.message)
    expect(readyCondition([unknown, waiting], firstUnready).message).toBe(unknown.message)
  })
})

describe('stampConditions', () => {
  it('keeps the time of a condition that did not change and sets the time of one that did', () => {
    const before = stampConditions([input, waiting], undefined, 'earlier')
    const after = stampConditions([input, { ...waiting, message: 'almost done' }, failed], before, 'now')
    expect(after.map(({ lastTransitionTime }) => lastTransitionTime)).toEqual(['earlier', 'now', 'now'])
  })

  it('treats an empty severity like a missing one', () => {
    const before = [{ ...input, severity: '', lastTransitionTime: 'earlier' }]
    expect(stampConditions([input], before, 'now')[0]?.lastTransitionTime).toBe('earlier')
  })
})

describe('sortConditions', () => {
  it('puts Ready first and the rest in order of type', () => {
    const types = sortConditions([input, waiting, conditionTrue('Ready', '')]).map(({ type }) => type)
    expect(types).toEqual(['Ready', 'DeploymentReady', 'InputReady'])
  })
})

describe('summarizeConditions', () => {
  it('puts Ready in front and leaves the order of the others', () => {
    const types = summarizeConditions([input, failed, warning], undefined, 'now').map(({ type }) => type)
    expect(types).toEqual(['Ready', 'InputReady', 'ServiceReady', 'HostsUsable'])
  })
})
