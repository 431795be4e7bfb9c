// Work that the thread of an event loop does between two turns, since that is cheaper than waking
// another thread. Such work may block: another thread then runs the loop meanwhile, and other work
// that waits goes elsewhere.
//
// Thread safety: each function concerns the calling thread.
#pragma once

#include <memory>

namespace kube::detail {

class AfterTurn {
 public:
  /// Either function is called, once.
  class Work {
   public:
    /// Called between two turns.
    virtual void runHere() = 0;
    /// Called on another thread, if work that began earlier takes long. Must not block.
    virtual void runElsewhere() = 0;

   protected:
    ~Work() = default;
  };

  /// Takes the work if the calling thread runs a loop that does such work; it is done after this
  /// turn. Returns false otherwise.
  static bool tryAdd(const std::shared_ptr<Work>& work);
  /// Returns whether the calling thread does such work now.
  static bool isWorking() noexcept;
  /// To be called before a wait: if the calling thread does such work now, another thread takes
  /// over its loop at once.
  static void aboutToBlock() noexcept;

 protected:
  ~AfterTurn() = default;

  /// Makes this the receiver of work on the calling thread; null: the thread receives no more.
  static void setReceiver(AfterTurn* receiver) noexcept;
  /// Does all work, on this thread, which may block. The exceptions of the work are logged.
  void workHere();

 private:
  /// Returns false if the work cannot be done.
  virtual bool add(const std::shared_ptr<Work>& work) = 0;
  /// Takes the next work; null if there is none.
  virtual std::shared_ptr<Work> next() = 0;
  /// The work that runs now is about to block.
  virtual void onBlocking() noexcept = 0;
};

}  // namespace kube::detail
