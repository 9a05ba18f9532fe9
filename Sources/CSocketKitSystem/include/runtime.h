// Entry points of the Swift runtime that its compiler calls in every program. No logic.
#pragma once
// The object, counted once more; NULL once its deinit has begun. An unowned count must keep its memory.
void *swift_tryRetain(void *object);
void swift_release(void *object);
// A count that keeps an object's memory, not its life.
void *swift_unownedRetain(void *object);
void swift_unownedRelease(void *object);
