import { describe, expect, it } from 'vitest';
import { eventPattern } from '../../../lib/local/sources/mapping/event-pattern.js';

const event = {
  eventName: 'INSERT',
  dynamodb: { NewImage: { _type: { S: 'OUTBOX' }, count: { N: '12' } } },
  userIdentity: null,
  tags: ['a', 'b'],
  total: 12,
  paid: true,
};

describe('an event pattern', () => {
  it.each<[boolean, object]>([
    [true, { eventName: ['INSERT', 'MODIFY'] }],
    [false, { eventName: ['MODIFY'] }],
    [true, { eventName: ['INSERT'], dynamodb: { NewImage: { _type: { S: ['OUTBOX'] } } } }],
    [false, { dynamodb: { OldImage: { _type: { S: ['OUTBOX'] } } } }],
    [true, { tags: ['b'] }],
    [true, { paid: [true], total: [12] }],
    [false, { total: ['12'] }],
    [true, { userIdentity: [null] }],
    [false, { nobody: [null] }],
    [true, { eventName: [{ prefix: 'IN' }] }],
    [false, { eventName: [{ prefix: 'in' }] }],
    [true, { eventName: [{ prefix: { 'equals-ignore-case': 'in' } }] }],
    [true, { eventName: [{ suffix: 'ERT' }] }],
    [true, { eventName: [{ 'equals-ignore-case': 'insert' }] }],
    [true, { eventName: [{ wildcard: 'I*R*' }] }],
    [false, { eventName: [{ wildcard: 'S*' }] }],
    [true, { eventName: [{ 'anything-but': 'REMOVE' }] }],
    [false, { eventName: [{ 'anything-but': ['INSERT', 'REMOVE'] }] }],
    [false, { eventName: [{ 'anything-but': { prefix: 'IN' } }] }],
    [false, { nobody: [{ 'anything-but': 'x' }] }],
    [true, { total: [{ numeric: ['>', 10, '<=', 12] }] }],
    [false, { total: [{ numeric: ['<', 12] }] }],
    [true, { dynamodb: { NewImage: { count: { N: [{ exists: true }] } } } }],
    [true, { dynamodb: { OldImage: { count: { N: [{ exists: false }] } } } }],
    [false, { eventName: [{ exists: false }] }],
    [false, { dynamodb: [{ exists: true }] }],
    [true, { $or: [{ eventName: ['REMOVE'] }, { total: [12] }] }],
    [false, { $or: [{ eventName: ['REMOVE'] }, { total: [13] }] }],
  ])('is %s for %j', (matches, pattern) => {
    expect(eventPattern(pattern as never)(event)).toBe(matches);
  });

  it.each<[object]>([
    [{ a: 'text' }],
    [{ a: [{ like: 'x' }] }],
    [{ a: [{ prefix: 1 }] }],
    [{ a: [{ numeric: ['>'] }] }],
    [{ a: [{ prefix: 'x', suffix: 'y' }] }],
    [{ $or: {} }],
    [{ a: [['b']] }],
  ])('refuses %j', (pattern) => {
    expect(() => eventPattern(pattern as never)).toThrow(TypeError);
  });
});
