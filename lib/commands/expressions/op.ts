// Operations on a handle; a token of a shape is the handle's number times 32 plus one of these. Single constants, which a
// bundler writes where they are used. Up to `prepend` they are of SET; the others have a section of their own.
export const set = 0;
export const setIfNotExists = 1;
export const setText = 2;
export const append = 3;
export const prepend = 4;
export const remove = 5;
export const add = 6;
export const deleteFrom = 7;
export const eq = 8;
export const ne = 9;
export const lt = 10;
export const le = 11;
export const gt = 12;
export const ge = 13;
export const between = 14;
export const isIn = 15;
export const exists = 16;
export const notExists = 17;
export const beginsWith = 18;
export const contains = 19;
export const isType = 20;
